"""An analysis as the protocol states it, its results, the known statistics, sentences and verdicts."""
