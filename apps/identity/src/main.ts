import { ConfigError, createLifecycle, createLogger, handleUnhandledErrors, parseConfig } from '@crux/service-kit'
import { type IdentityConfig, identitySettings } from './config/config.ts'
import { startIdentity } from './start.ts'

const config = readConfig()
const log = createLogger({ name: 'identity', level: config.LOG_LEVEL })
handleUnhandledErrors(log)
const lifecycle = createLifecycle(log)
lifecycle.stopOnSignals()
try {
  const { publicUrl, adminUrl } = await startIdentity(config, { log, lifecycle })
  log.info({ publicUrl, adminUrl }, 'ready')
} catch (err) {
  log.fatal({ err }, 'cannot start')
  process.exit(1)
}

function readConfig(): IdentityConfig {
  try {
    return parseConfig(identitySettings, process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
