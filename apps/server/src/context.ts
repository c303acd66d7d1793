import type { Database } from '@crux/postgres'
import type { Logger, Metrics, Outbound } from '@crux/service-kit'
import type { MailTransport } from '@crux/service-kit/mail'
import type { NodeLinks } from './agent-links/links.ts'
import type { Bus } from './bus/bus.ts'
import type { Config } from './config/config.ts'
import type { Cipher } from './crypto/cipher.ts'
import type * as schema from './db/schema/index.ts'
import type { Accounts } from './identity/accounts.ts'
import type { Identity } from './identity/identity.ts'
import type { Jobs } from './jobs/jobs.ts'

/** The parts of the process that every domain may use, composed by hand at the start. */
export type App = {
  config: Config
  log: Logger
  database: Database<typeof schema>
  bus: Bus
  cipher: Cipher
  outbound: Outbound
  identity: Identity
  accounts: Accounts
  /** Undefined if this installation cannot send mail. */
  mail: MailTransport | undefined
  jobs: Jobs
  metrics: Metrics
  /** The agents that this process holds a link to. */
  links: NodeLinks
}
