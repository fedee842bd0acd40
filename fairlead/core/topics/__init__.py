"""The topics of a group: routes, identities, retry topics, partitions that are added."""
