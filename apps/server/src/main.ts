import { ConfigError, createLifecycle, createLogger, getField, handleUnhandledErrors } from '@crux/service-kit'
import { type Config, readConfig } from './config/index.ts'
import { startServer } from './start.ts'

let config: Config
try {
  config = readConfig(process.env)
} catch (error) {
  if (!(error instanceof ConfigError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}

const log = createLogger({ name: 'server', level: config.logLevel })
// An exception in one callback must not end the links of all agents.
handleUnhandledErrors(log)
const lifecycle = createLifecycle(log)
try {
  const server = await startServer(config, { log })
  lifecycle.onStop('server', () => server.stop())
  lifecycle.stopOnSignals()
  log.info({ url: server.url, host: config.host, port: server.port }, 'ready')
} catch (error) {
  if (getField(error, 'code') === 'EADDRINUSE')
    log.fatal(`CRUX_PORT ${config.port} is taken on ${config.host}: choose another one`)
  else log.fatal({ err: error }, 'the server cannot start')
  process.exit(1)
}
