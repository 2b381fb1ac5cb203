# synthdp in a container: docker build -t synthdp . && docker run --rm synthdp --help
# docs/nightly.md shows a run every night. Files come in and go out through /work.
FROM python:3.11-slim AS build
WORKDIR /source
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.11-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[parquet,zstd,postgres,publish]" \
    && rm -r /wheels \
    && useradd --create-home --uid 10001 synthdp
USER 10001
ENV OMP_NUM_THREADS=1
WORKDIR /work
ENTRYPOINT ["synthdp"]
