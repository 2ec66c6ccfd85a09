"""Learning from a log alone: the same updates, over minibatches of what was recorded."""
