"""All groups as their topics say they are: a fold of raw records, without a clock or a broker."""
