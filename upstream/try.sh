#!/usr/bin/env bash
# Apply the pieces to scikit-learn, build what they change, run its tests, measure.
#
#   upstream/try.sh [FOLDER]     everything into FOLDER, by default a new one below $TMPDIR
#
# Environment: PIECES, those to test one by one (default "1 2 3 4 5"); JOBS, of the compiler and
# of pytest (default 2); SDIST, a source archive of scikit-learn 1.9.1 to take in place of a
# download; WITHOUT, words out of "tests" and "measurements" to leave out.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=$(realpath "${1:-$(mktemp -d "${TMPDIR:-/tmp}/upstream.XXXXXX")}")
pieces=${PIECES-1 2 3 4 5}
jobs=${JOBS:-2}
mkdir -p "$folder"
cd "$folder"
export OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH

step() { echo "== $* ($(date +%T))"; }

step environment
[ -d venv ] || python3 -m venv venv
export PATH=$folder/venv/bin:$PATH VIRTUAL_ENV=$folder/venv
pip install -q 'cython>=3.1.2,<3.2.6' 'meson-python>=0.17.1,<0.22' 'meson>=1.9' ninja \
    'numpy>=2,<2.6' 'scipy>=1.10,<1.19' joblib threadpoolctl narwhals pytest pytest-xdist pandas
pip install -q --no-deps scikit-learn==1.9.1  # for the modules that are not built

if [ -z "${SDIST-}" ]; then
    step download
    # pip asks the build backend for metadata, for which meson-python would compile everything.
    # They stand in the archive: a backend of a few lines hands them over.
    mkdir -p backend
    cp "$here/backend.py" backend/mesonpy.py
    PYTHONPATH=$folder/backend pip download -q --no-binary :all: --no-deps --no-build-isolation \
        scikit-learn==1.9.1
    SDIST=$(ls "$folder"/scikit_learn-1.9.1.tar.gz)
fi

step pieces
rm -rf series
python "$here/series.py" "$SDIST" series

# The extension modules whose layout or code a piece can change: those of the tree module and all
# that cimport from it.
suffix=$(python -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
modules=()
for module in tree/{_tree,_splitter,_partitioner,_criterion,_utils} utils/_sorting \
    ensemble/_gradient_boosting neighbors/_quad_tree manifold/_barnes_hut_tsne; do
    modules+=("sklearn/$module$suffix")
done
installed=$(python -c 'import pathlib, sklearn; print(pathlib.Path(sklearn.__file__).parents[1])')

# build TAG: a package in site-TAG, the installed one with its tree, utils and ensemble replaced.
build() {
    step "build $1"
    git -C series/scikit-learn checkout -q "$1"
    [ -d build ] || meson setup -Dbuildtype=release build series/scikit-learn >setup.log
    ninja -j "$jobs" -C build "${modules[@]}" >build.log || { tail -50 build.log; exit 1; }
    rm -rf "site-$1"
    mkdir "site-$1"
    cp -r "$installed"/sklearn "$installed"/scikit_learn* "site-$1"
    python "$here/overlay.py" series/scikit-learn "site-$1"
    for module in "${modules[@]}"; do cp "build/$module" "site-$1/$module"; done
}

# Tests that compare trees of dense and of sparse data split by split. In the whole series the sums
# of the two are added in different orders, so that splits of equal improvement may be told apart by
# rounding.
ties='test_sparse_input\[\w+-GradientBoostingClassifier\]'

# run_tests TAG FOLDER...: scikit-learn's tests of these folders of the package.
run_tests() {
    local tag=$1 status=0 expected='^$' unexpected
    shift
    [ "$tag" != "$last" ] || expected=$ties
    step "tests of $tag: $*"
    (cd "site-$tag" && python -m pytest -q -n "$jobs" -p no:cacheprovider \
        -W ignore::pytest.PytestRemovedIn10Warning "${@/#/sklearn/}" \
        >"../tests-$tag.log" 2>&1) || status=$?
    tail -1 "tests-$tag.log"
    grep -E '^(FAILED|ERROR)' "tests-$tag.log" || true
    unexpected=$(grep -E '^(FAILED|ERROR)' "tests-$tag.log" | grep -vE "$expected" || true)
    [ $status = 0 ] || [[ $status = 1 && -z $unexpected ]] || failed+=" $tag"
}

failed=
last=piece-$(git -C series/scikit-learn rev-list --count unpatched..pieces)
build unpatched
for piece in $pieces; do
    build "piece-$piece"
    [[ ${WITHOUT-} == *tests* ]] || case $piece in
    2) run_tests "piece-$piece" tree ensemble/tests/test_{forest,bagging,gradient_boosting}.py ;;
    4) run_tests "piece-$piece" tree utils/tests/test_sorting.py ;;
    *) run_tests "piece-$piece" tree ;;
    esac
done
[ -d "site-$last" ] || build "$last"
[[ ${WITHOUT-} == *tests* ]] || run_tests "$last" tree ensemble utils

if [[ ${WITHOUT-} != *measurements* ]]; then
    step measurements
    for piece in $pieces; do
        before=piece-$((piece - 1))
        [ "$piece" -gt 1 ] && [ -d "site-$before" ] || before=unpatched
        python "$here/measure.py" "site-$before" "site-piece-$piece" "$piece"
    done
    python "$here/measure.py" site-unpatched "site-$last" series
fi
step "done: $folder"
[ -z "$failed" ] || { echo "failures:$failed"; exit 1; }
