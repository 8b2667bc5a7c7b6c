# SPDX-License-Identifier: Apache-2.0
# Everything that make demo and make test need, on Debian 13. With --build-arg SUITE=bookworm, on Debian 12.
#
#    docker build -t spate .
#    docker run --rm spate                 make demo
#    docker run --rm spate make test       without what needs a loop device or FUSE: add --privileged for that
#
# It does what tools/fresh does on a new Debian: git and make, then the project's own setup.
ARG SUITE=trixie
FROM debian:${SUITE}

RUN apt-get update \
    && apt-get install -y --no-install-recommends git make ca-certificates \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /spate

# Only what setup reads: a change of another file does not install everything again.
COPY setup setup
COPY tools/run tools/run
RUN setup/install \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/archives/*.deb

COPY . .

CMD ["make", "demo"]
