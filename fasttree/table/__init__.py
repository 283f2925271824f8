"""Tables as they are: columns of frames, and their encoder into one matrix of cells."""
