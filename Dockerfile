# Two images: the gateway, from the npm package that `npm run build` writes to dist/package, and the sample services of
# docker-compose.yml. They do not run as root, and write only to /data.
#   npm ci && npm run build
#   docker build -t sundial .                                the gateway
#   docker build -t sundial-samples --target samples .
#   docker run --read-only -v sundial:/data -p 8443:8443 -v ./my-config:/etc/sundial:ro -e SUNDIAL_CONFIG=/etc/sundial/gateway.yaml sundial

FROM node:26-slim AS base
RUN apt-get update \
 && apt-get install --yes --no-install-recommends libatomic1 \
 && rm -rf /var/lib/apt/lists/* \
 && install --directory --owner=node --group=node --mode=0700 /data
WORKDIR /app
ENV SUNDIAL_DATA=/data
VOLUME /data
STOPSIGNAL SIGTERM

FROM node:26-slim AS packages
WORKDIR /app
# `npm ci` runs the launcher to check the version of Node.
COPY package.json package-lock.json ./
COPY gateway/sundial.js gateway/sundial.js
RUN npm ci --omit=dev --no-audit --no-fund

FROM base AS samples
COPY package.json ./
COPY --from=packages /app/node_modules node_modules
COPY upstreams upstreams
USER node
ENTRYPOINT ["node"]

FROM base AS gateway
COPY dist/package ./
# Compiles once here, because the root file system is read-only at run time.
RUN node gateway/sundial.js --version \
 && NODE_COMPILE_CACHE=node_modules/.cache/sundial NODE_COMPILE_CACHE_PORTABLE=1 node --eval "import('./gateway/gateway.js')"
COPY config/container config/container
COPY policies policies
# The sample policies read these OpenAPI descriptions.
COPY upstreams/orders/*.openapi.yaml upstreams/orders/
COPY upstreams/payments/*.openapi.yaml upstreams/payments/
COPY upstreams/webhooks/*.openapi.yaml upstreams/webhooks/

ENV SUNDIAL_CONFIG=/app/config/container/gateway.yaml
USER node
EXPOSE 8443 8080 9902
# Uses bash, because another Node process takes 5 % of a core. HEALTH_PORT: the `metrics` or `admin` listener of the gateway file.
ENV HEALTH_PORT=9902
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 CMD ["bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/$HEALTH_PORT && printf 'GET /-/ready HTTP/1.0\\r\\nHost: 127.0.0.1\\r\\n\\r\\n' >&3 && read -r _ status _ <&3 && [ \"$status\" = 200 ]"]
ENTRYPOINT ["node", "gateway/sundial.js"]
CMD ["run"]
