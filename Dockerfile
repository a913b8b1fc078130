# Two images: the gateway, and the sample services of docker-compose.yml. No root, nothing written but /data.
#   docker build -t sundial .                                the gateway: healthy when it takes requests
#   docker build -t sundial-samples --target samples .
#   docker run --read-only -v sundial:/data -p 8443:8443 -v ./my-config:/etc/sundial:ro -e SUNDIAL_CONFIG=/etc/sundial/gateway.yaml sundial

FROM node:26-slim AS packages
WORKDIR /app
# The launcher is what `npm ci` asks whether Node is new enough.
COPY package.json package-lock.json ./
COPY gateway/sundial.js gateway/sundial.js
RUN npm ci --omit=dev --no-audit --no-fund

FROM packages AS gateway-packages
# What the samples alone import.
RUN npm uninstall --no-save --omit=dev --no-audit --no-fund bullmq oidc-provider selfsigned

FROM node:26-slim AS base
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
COPY package.json ./
ENV SUNDIAL_DATA=/data
VOLUME /data
STOPSIGNAL SIGTERM

FROM base AS samples
COPY --from=packages /app/node_modules node_modules
COPY upstreams upstreams
USER node
ENTRYPOINT ["node"]

FROM base AS gateway
COPY --from=gateway-packages /app/node_modules node_modules
COPY gateway gateway
COPY config/container config/container
COPY policies policies
# What the sample policies take from the descriptions of their services.
COPY upstreams/orders/*.openapi.yaml upstreams/orders/
COPY upstreams/payments/*.openapi.yaml upstreams/payments/
COPY upstreams/webhooks/*.openapi.yaml upstreams/webhooks/
# Compiled once here: the root is read-only where it runs.
RUN node gateway/sundial.js --version \
 && NODE_COMPILE_CACHE=node_modules/.cache/sundial NODE_COMPILE_CACHE_PORTABLE=1 node --eval "import('./gateway/gateway.ts')"

ENV SUNDIAL_CONFIG=/app/config/container/gateway.yaml
USER node
EXPOSE 8443 8080 9902
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["node", "gateway/sundial.js", "status"]
ENTRYPOINT ["node", "gateway/sundial.js"]
CMD ["run"]
