# Sundial in a container: no root, nothing written but /data, healthy when it takes requests.
#   docker build -t sundial .
#   docker run --read-only -v sundial:/data -p 8443:8443 -v ./my-config:/etc/sundial:ro -e SUNDIAL_CONFIG=/etc/sundial/gateway.yaml sundial

FROM node:26-slim AS packages
WORKDIR /app
# The launcher is what `npm ci` asks whether Node is new enough.
COPY package.json package-lock.json ./
COPY gateway/sundial.js gateway/sundial.js
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:26-slim
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
COPY package.json ./
COPY --from=packages /app/node_modules node_modules
COPY gateway gateway
COPY upstreams upstreams
COPY config config
COPY policies policies
# Compiled once here: the root is read-only where it runs.
RUN node gateway/sundial.js --version

ENV SUNDIAL_CONFIG=/app/config/container/gateway.yaml SUNDIAL_DATA=/data
USER node
VOLUME /data
EXPOSE 8443 8080 9902
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["node", "gateway/sundial.js", "status"]
ENTRYPOINT ["node", "gateway/sundial.js"]
CMD ["run"]
