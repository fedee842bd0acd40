"""The pure core: typed values in and out, standard library only, no clock."""
