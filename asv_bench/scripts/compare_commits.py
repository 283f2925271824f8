"""Two commits of fasttree side by side: the same trees, and the ratios of time and memory.

    python asv_bench/scripts/compare_commits.py main HEAD --list
    python asv_bench/scripts/compare_commits.py main HEAD --cases dense small --random 10000
    python asv_bench/scripts/compare_commits.py main HEAD --data FOLDER --text FILE --keep BUILDS

Each commit is built from its own sources and loaded by a process of its own; the cases are those
of this checkout, `compare.py`'s first of all, and what they need besides fasttree is the present
environment's. The processes take turns, call by call, so that a disturbance of the machine hits
both. A line says whether both found the same (every array of the tree bit for bit, or the
predictions), the seconds, the ratio new / base of the least times, the quartiles of the ratios
of neighbouring turns, and the ratio of peak memory where a call takes more than a megabyte.
The exit status is 1 if anything differs or fails in NEW; what fails in BASE alone is skipped
with a note, for a new case may ask for what is new.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from math import ceil
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TURN = 0.005  # seconds that a turn takes at least: short calls are repeated
ENOUGH = 0.5  # seconds that a process spends on a case at least, unless that takes 20 times as
MORE = 20  # many turns as asked for
CHUNK = 50  # seeds per message
MEASURABLE = 2**20  # bytes


# ---- the parent


def git(*arguments):
    return subprocess.run(
        ["git", "-C", ROOT, *arguments], check=True, capture_output=True, text=True
    ).stdout.strip()


def build(commit, folder):
    """Install a commit into a folder of its own below `folder`, unless it is there."""
    sha = git("rev-parse", "--verify", f"{commit}^{{commit}}")
    target = folder / sha
    if not target.exists():
        print(f"building {commit} ({sha[:10]})", flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            archive, source = Path(scratch, "source.tar"), Path(scratch, "source")
            git("archive", "--output", archive, sha)
            shutil.unpack_archive(archive, source)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
            partial_target = Path(scratch, "target")
            options = ["--no-build-isolation", "--target", partial_target, source]
            subprocess.run([*pip, *options], check=True)
            shutil.move(partial_target, target)
    return target


class Worker:
    """A process that has loaded one build. Messages are lines of JSON."""

    def __init__(self, target, options):
        # Without site no editable installation comes before the build.
        folders = [target, ROOT / "asv_bench", ROOT / "asv_bench/scripts", ROOT / "tests"]
        path = os.pathsep.join(map(str, [*folders, *sys.path]))
        settings = {"data": options.data, "text": options.text, "cpu": options.cpu}
        self.process = subprocess.Popen(
            [sys.executable, "-S", __file__, "--serve", str(target), json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": path},
        )

    def send(self, *message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def receive(self):
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"A worker ended with status {self.process.wait()}.")
        return json.loads(answer)

    def ask(self, *message):
        self.send(*message)
        return self.receive()


def ask_both(workers, *message):
    """Both answers; the workers are at it at the same time, so nothing may be timed."""
    for worker in workers:
        worker.send(*message)
    return [worker.receive() for worker in workers]


def measure(workers, seconds, repeats):
    """Times of all turns (repeats, 2)."""
    slower = max(seconds)
    n_calls = ceil(TURN / slower)
    n_turns = min(max(repeats, ceil(ENOUGH / (n_calls * slower))), MORE * repeats)
    return np.array([[w.ask("time", n_calls) for w in workers] for _ in range(n_turns)])


def compare_case(workers, name, repeats):
    """Print the line of the case that both workers hold, and return (is right, ratio or None)."""
    base, new = answers = [worker.ask("run") for worker in workers]
    if "error" in base or "error" in new:
        which = "NEW" if "error" in new else "BASE"
        print(f"{name:<44}{which} {'fails' if which == 'NEW' else 'lacks it'}: ", end="")
        print((new if which == "NEW" else base)["error"], flush=True)
        return which == "BASE", None
    is_same = base["digest"] == new["digest"]
    turns = measure(workers, [answer["seconds"] for answer in answers], repeats)
    seconds = turns.min(axis=0)
    low, high = np.quantile(turns[:, 1] / turns[:, 0], [0.25, 0.75])
    ratio = seconds[1] / seconds[0]
    peaks = [worker.ask("peak") for worker in workers]
    memory = f"{peaks[1] / peaks[0]:>9.3f}" if min(peaks) > MEASURABLE else f"{'':>9}"
    same = "same" if is_same else "DIFFERS"
    print(f"{name:<44}{same:<8}{seconds[0]:>10.4g}{seconds[1]:>10.4g}{ratio:>8.3f}", end="")
    print(f"  {low:.3f} .. {high:.3f}{memory}", flush=True)
    return is_same, ratio


def compare_suite(workers, suite, repeats):
    """(is right, ratio or None) of each case of a suite; a suite that BASE lacks has none."""
    for worker in workers:
        worker.ask("start", suite)
    while True:
        base, new = (worker.ask("next") for worker in workers)
        if "error" in new:
            print(f"{suite:<44}NEW fails: {new['error']}", flush=True)
            yield False, None
            return
        if "error" in base:
            print(f"{suite:<44}BASE lacks it, or the rest of it: {base['error']}", flush=True)
            return
        if new["name"] is None:
            return
        if base["name"] != new["name"]:
            raise SystemExit(f"{suite}: BASE is at {base['name']!r}, NEW at {new['name']!r}.")
        yield compare_case(workers, new["name"], repeats)


def compare_random(workers, n_problems):
    """The seeds of small random problems whose trees differ."""
    different = []
    for start in range(0, n_problems, CHUNK):
        seeds = range(start, min(start + CHUNK, n_problems))
        base, new = ask_both(workers, "random", list(seeds))
        different += [seed for seed, a, b in zip(seeds, base, new) if a != b]
    return different


def compare_commits(options, folder):
    """Print what there is to be said, and return the exit status."""
    targets = [build(commit, folder) for commit in (options.base, options.new)]
    workers = [Worker(target, options) for target in targets]
    is_right, ratios = True, []
    if options.random:
        different = compare_random(workers, options.random)
        seeds = f", seeds {different[:10]}" if different else ""
        print(f"random problems: {len(different)} of {options.random:,} differ{seeds}", flush=True)
        is_right = not different
    if options.cases:
        print(f"{'':<52}{'base, s':>10}{'new, s':>10}{'ratio':>8}", end="")
        print(f"  {'quartiles':<14}{'memory':>9}")
    for suite in options.cases:
        for is_fine, ratio in compare_suite(workers, suite, options.repeats):
            is_right &= is_fine
            ratios += [ratio] if ratio is not None else []
    for worker in workers:
        worker.process.stdin.close()
        worker.process.wait()
    if ratios:
        mean = np.exp(np.mean(np.log(ratios)))
        print(f"{len(ratios)} cases, geometric mean {mean:.4f}, worst {max(ratios):.3f}")
    return 0 if is_right else 1


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("base")
    parser.add_argument("new")
    parser.add_argument("--cases", nargs="*", metavar="NAME", help="default: all that can be run")
    parser.add_argument("--list", action="store_true", help="name the cases and stop")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="small problems")
    parser.add_argument("--data", default=os.environ.get("FASTTREE_DATA"), metavar="FOLDER")
    parser.add_argument("--text", default=os.environ.get("FASTTREE_TEXT"), metavar="FILE")
    parser.add_argument("--repeats", type=int, default=5, metavar="N", help="turns at least")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="of builds, to be used again")
    parser.add_argument("--cpu", action="store_true", help="CPU time for what is serial")
    options = parser.parse_args()
    if options.cases is None:
        options.cases = [name for name, needs in CASES.items() if has_needs(options, needs)]
    for name in options.cases:
        if name not in CASES:
            parser.error(f"unknown case {name!r}; known: {', '.join(CASES)}")
        if not has_needs(options, CASES[name]):
            parser.error(f"the case {name!r} needs --{CASES[name]}")
    return options


def has_needs(options, needs):
    return needs is None or getattr(options, needs) is not None


def main():
    options = parse_options()
    if options.list:
        for name, needs in CASES.items():
            print(f"{name:<18}{'' if needs is None else f'needs --{needs}'}")
        return 0
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
        return compare_commits(options, options.keep.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return compare_commits(options, Path(folder))


# ---- the cases. Suites of compare.py and compare_sparse.py by their names; those that no race of
# fasttree with scikit-learn covers are below. fasttree is imported by workers alone.

#: What a suite needs: None, or the name of an option.
CASES = {
    "dense": None,
    "criteria": None,
    "threads": None,
    "growth": None,
    "predict": None,
    "max_features": None,
    "forests": None,
    "outputs": None,
    "onehot": None,
    "small": None,
    "memory": None,
    "optimal": None,
    "tables": "data",
    "random": "data",
    "labels": "data",
    "tuning": "data",
    "sparse_zipf": None,
    "sparse_text": "text",
    "sparse_threads": "text",
    "sparse_criteria": "text",
    "sparse_slice": "text",
    "sparse_predict": "text",
}


def own_race(name, call, **fields):
    from compare import Race

    return Race(name, theirs=None, ours=call, wanted=1, **fields)


def memory(options):
    """1,000,000 x 20, of which the last column counts"""
    import fasttree
    from benchmarks import data
    from benchmarks.common import make_estimator

    X, y = data.gaussian()
    for strategy in ("auto", "sort"):

        def fit(strategy=strategy):
            with fasttree.config_context(strategy=strategy):
                return make_estimator("fasttree", "classification").fit(X, y)

        yield own_race(f"1,000,000 x 20, strategy={strategy}", fit)


def labels(options):
    """Tables with labels, encoded by the fit; prediction of all rows"""
    from benchmarks import data
    from benchmarks.common import make_estimator

    for name in data.label_table_names(options.data):
        frame, y, task = data.read_frame(options.data, name)
        estimator = make_estimator("fasttree", task)
        yield own_race(f"{name}, labels", partial(estimator.fit, frame, y))
        yield own_race(f"{name}, labels, predict", partial(estimator.predict, frame))


def tuning(options):
    """228 settings on five folds, and the pass over validation rows"""
    from benchmarks import data
    from benchmarks.common import make_estimator
    from benchmarks.tuning import make_grid, make_search

    for name in ("churn", "adult"):
        X, y, task = data.read_table(options.data, name)
        search = make_search("train once", make_grid(len(y) * 4 // 5, 200), task)
        yield own_race(f"{name}, 228 settings", partial(search.fit, X, y))
        estimator = make_estimator("fasttree", task).fit(X[::2], y[::2])
        yield own_race(f"{name}, tune", partial(estimator.tune, X[1::2], y[1::2], copy=True))


def optimal(options):
    """Optimal trees of depths two to four; least leaves, weights, the whole front, two threads"""
    from benchmarks import data
    from fasttree.optimal import OptimalDecisionTreeClassifier

    X, y = data.binary()
    weight = np.random.default_rng(0).exponential(size=len(y))
    for params, w in (
        ({"max_depth": 2}, None),
        ({"max_depth": 3}, None),
        ({"max_depth": 4}, None),
        ({"max_depth": 3, "min_samples_leaf": 20}, None),
        ({"max_depth": 3}, weight),
        ({"max_depth": 3, "pareto_front": True}, None),
        ({"max_depth": 4, "n_jobs": 2}, None),
    ):
        text = ", ".join(f"{name}={value}" for name, value in params.items())
        name = f"optimal, {text}{'' if w is None else ', weights'}"
        fit = partial(OptimalDecisionTreeClassifier(**params).fit, X, y, sample_weight=w)
        yield own_race(name, fit, is_serial="n_jobs" not in params)


def suites():
    import compare
    import compare_sparse

    sparse = {f"sparse_{name}": suite for name, suite in compare_sparse.SUITES.items()}
    own = {suite.__name__: suite for suite in (memory, labels, tuning, optimal)}
    return compare.SUITES | sparse | own


# ---- the worker


def contents(result):
    """What must not differ between two commits, of whatever a call returns."""
    from compare import NODE_ARRAYS

    if isinstance(result, list):
        return [contents(item) for item in result]
    if hasattr(result, "cv_results_"):
        return result.cv_results_["mean_test_score"], contents(result.best_estimator_)
    if hasattr(result, "best_params"):
        return result.scores, contents(result.estimator)
    if hasattr(result, "estimators_"):
        return [contents(tree) for tree in result.estimators_]
    if not hasattr(result, "tree_"):
        return result
    tree = result.tree_
    arrays = {name: getattr(tree, name) for name in NODE_ARRAYS}
    return arrays, tree.__getstate__().get("label_splits")


def random_contents(seed):
    """Trees of three small problems: dense, sparse, and a table with labels."""
    import fasttree.tree
    from reference.naive_hybrid import object_array, random_table
    from reference.problems import random_problem
    from reference.sparse import sparse_problem

    problem = random_problem(seed)
    _, sparse = sparse_problem(seed, rows=(2, 100))
    table = object_array(random_table(np.random.default_rng([seed, 5])))
    y = np.random.default_rng(seed).integers(0, 3, len(table))
    hybrid = fasttree.tree.DecisionTreeClassifier(random_state=seed)
    calls = (
        partial(problem.fit, fasttree.tree, n_jobs=1 + seed % 2),
        partial(sparse.fit, fasttree.tree, n_jobs=1 + seed % 2),
        partial(hybrid.fit, table, y),
    )
    found = []
    for call in calls:
        try:
            found.append(contents(call()))
        except (ValueError, TypeError) as error:
            found.append(type(error).__name__)
    return found


class Server:
    """Answers the parent's messages; a method per kind of message."""

    def __init__(self, options):
        self.options = options
        self.suites = suites()
        self.races = iter(())
        self.race = None

    def start(self, suite):
        from compare import Race

        seen = set()
        races = (item for item in self.suites[suite](self.options) if isinstance(item, Race))
        # Several races may measure the same call against others. Calls are kept: another one might
        # come to have the same address.
        self.races = (r for r in races if not (r.ours in seen or seen.add(r.ours)))

    def next(self):
        try:
            self.race = next(self.races, None)
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {"name": None if self.race is None else self.race.name}

    def run(self):
        import joblib

        try:
            found = joblib.hash(contents(self.race.ours()))
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {"digest": found, "seconds": self.time(1)}

    def time(self, n_calls):
        clock = time.process_time if self.options.cpu and self.race.is_serial else time.perf_counter
        best = np.inf
        for _ in range(n_calls):
            start = clock()
            self.race.ours()
            best = min(best, clock() - start)
        return best

    def peak(self):
        from peak import peak_memory

        return peak_memory(self.race.ours)

    def random(self, seeds):
        import joblib

        return [joblib.hash(random_contents(seed)) for seed in seeds]


def serve(target, settings):
    import fasttree

    if not Path(fasttree.__file__).is_relative_to(target):
        raise SystemExit(f"{fasttree.__file__} was loaded instead of the build in {target}.")
    answers, sys.stdout = sys.stdout, sys.stderr  # whatever is printed is not an answer
    server = Server(argparse.Namespace(tables=None, **json.loads(settings)))
    for line in sys.stdin:
        kind, *arguments = json.loads(line)
        answers.write(json.dumps(getattr(server, kind)(*arguments)) + "\n")
        answers.flush()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:])
    else:
        sys.exit(main())
