# The engine: a virtual environment from the hashed lock, the jars, and a Java to run them.
# Everything that is done, deploy/image-steps does; the same script can be tried without a builder
# (make image-steps). Nothing secret goes in: settings come from the environment and mounted files.

FROM eclipse-temurin:17-jre AS java

FROM python:3.11-slim-bookworm AS base
COPY --from=java /opt/java/openjdk /opt/java/openjdk
ENV JAVA_HOME=/opt/java/openjdk \
    FAIRLEAD_CACHE=/opt/fairlead/cache \
    PATH=/opt/fairlead/venv/bin:/opt/java/openjdk/bin:/usr/local/bin:/usr/bin:/bin
RUN useradd --uid 10001 --user-group --create-home fairlead \
 && install --directory --owner=fairlead --group=fairlead /opt/fairlead /var/lib/fairlead

FROM base AS build
USER fairlead
WORKDIR /opt/fairlead/source
COPY --chown=fairlead:fairlead . .
RUN deploy/image-steps /opt/fairlead

FROM base
COPY --from=build --chown=fairlead:fairlead /opt/fairlead/venv /opt/fairlead/venv
COPY --from=build --chown=fairlead:fairlead /opt/fairlead/cache /opt/fairlead/cache
COPY --from=build --chown=fairlead:fairlead /opt/fairlead/healthcheck /opt/fairlead/healthcheck
USER 10001:10001
WORKDIR /var/lib/fairlead
# The checkpoint is the engine's memory: keep this volume.
VOLUME /var/lib/fairlead
ENV PYTHONUNBUFFERED=1 \
    FAIRLEAD__ENGINE__CHECKPOINT=/var/lib/fairlead/checkpoint \
    FAIRLEAD__METRICS__HOST=0.0.0.0 \
    FAIRLEAD__METRICS__PORT=9464 \
    FAIRLEAD__SERVE__HOST=0.0.0.0 \
    FAIRLEAD__SERVE__PORT=9465
# A container that runs `serve` needs to know who may call: FAIRLEAD__ACCESS__FILE, in a volume.
# The engine's metrics, and the view of all groups of a container that runs `serve`.
EXPOSE 9464 9465
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s CMD ["python", "/opt/fairlead/healthcheck"]
ENTRYPOINT ["fairlead"]
CMD ["run"]
