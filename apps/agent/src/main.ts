import { ConfigError, createLogger, guarded, handleUnhandledErrors } from '@crux/service-kit'
import { startAgent } from './agent.ts'
import { NoTokenError } from './link/credentials.ts'
import type { LinkEnd } from './link/link.ts'
import { type AgentSettings, readSettings } from './settings.ts'
import { version } from './version.ts'

const linkEndMessages: Record<LinkEnd, string> = {
  refused: 'the server refused the token: install the agent again from the node page',
  revoked: 'the server revoked the token: install the agent again from the node page',
  shutdown: 'the server closed the link: the agent stops',
  replaced: 'another agent connected for this node: this one stops',
  stopped: 'stopped',
  updated: 'the new agent has taken over: this one stops',
  'update-failed': 'the update has failed: this agent stops, and the previous one continues',
}

function settingsOrExit(): AgentSettings {
  try {
    return readSettings(process.env)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

const settings = settingsOrExit()
const log = createLogger({ name: 'agent', level: settings.logLevel })
handleUnhandledErrors(log)
log.info({ version, server: settings.server, node: settings.nodeId, dataDir: settings.dataDir }, 'the agent starts')
try {
  const agent = await startAgent(settings, log)
  let signalCode = 0
  for (const [signal, code] of [
    ['SIGHUP', 129],
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    process.once(
      signal,
      guarded('a signal', () => {
        signalCode = code
        return agent.stop()
      }),
    )
  }
  const end = await agent.ended
  log.info(linkEndMessages[end])
  // 0 also for a refusal: with the restart policy on-failure the container then stays stopped. A signal differs: the engine sends one when
  // the machine shuts down, and must start the agent again with it.
  process.exit(end === 'stopped' ? signalCode : 0)
} catch (error) {
  if (error instanceof NoTokenError) {
    log.error(`${error.message}: install the agent from the node page`)
    process.exit(1)
  }
  log.fatal({ err: error }, 'the agent failed')
  process.exit(1)
}
