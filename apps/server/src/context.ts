import type { Database } from '@crux/postgres'
import type { Logger, Metrics, Outbound } from '@crux/service-kit'
import type { MailTransport } from '@crux/service-kit/mail'
import type { NodeLinks } from './agent-links/index.ts'
import type { Bus } from './bus/index.ts'
import type { Config } from './config/index.ts'
import type { Cipher } from './crypto/index.ts'
import type * as schema from './db/schema/index.ts'
import type { Accounts, Identity } from './identity/index.ts'
import type { Jobs } from './jobs/index.ts'

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
