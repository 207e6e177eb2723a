# syntax=docker/dockerfile:1
# docker build -t signalbox .        (another Node: --build-arg NODE_IMAGE=node:22-slim)
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Without scripts: `prepare` would build before the sources are here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY rules rules
COPY src src
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
# What the rules and the examples use, bash for serial commands, and an init that reaps what commands leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends bash coreutils file findutils git grep jq procps ripgrep sed tini tree \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY rules rules
COPY docs/errors.md docs/errors.md
RUN ln -s /app/dist/cli/main.js /usr/local/bin/signalbox && mkdir /workspace && chown node:node /workspace
ENV NODE_ENV=production
USER node
WORKDIR /workspace
EXPOSE 7311
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.SIGNALBOX_PORT || 7311) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "signalbox"]
# Reachable from outside the container, so there must be a token; without the file it says so and ends.
CMD ["serve", "--host", "0.0.0.0", "--token-file", "/run/secrets/signalbox_token"]
