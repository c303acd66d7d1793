/** Two services to start from: a variable, a health check that another service waits for, and a volume. */
export const exampleCompose = `services:
  web:
    image: nginx:1.29
    ports:
      - "\${WEB_PORT:-8080}:80"
    depends_on:
      cache:
        condition: service_healthy
  cache:
    image: valkey/valkey:8
    volumes:
      - cache-data:/data
    healthcheck:
      test: ["CMD", "valkey-cli", "ping"]
      interval: 10s

volumes:
  cache-data:
`
export const exampleEnv = `# The port of the web server on the node
WEB_PORT=8080
`
