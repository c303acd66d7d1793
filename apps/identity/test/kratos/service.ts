import type { Answer, Browser } from '../browser.ts'
import { consoleUrl } from '../console-url.ts'
import { getCode, getLink, type MailServer } from '../mail-server.ts'
import type { Clock } from './clock.ts'

/** A service under test: Ory Kratos or that of Crux. */
export interface Service {
  publicUrl: string
  mails: MailServer
  clock: Clock
  browser(headers?: Record<string, string>): Browser
  /** A client of the admin port, with a token where one is needed. */
  admin(): Browser
}

/** The tools of a scenario. */
export interface TestEnvironment {
  browser: Service['browser']
  clock: Clock
  /** An answer of the admin API; paths without `/admin`. */
  admin<T>(path: string, method?: string, json?: unknown): Promise<Answer<T>>
  adminPort(): Browser
  /** The newest code that was mailed to an address and not returned yet. */
  code(email: string): Promise<string>
  /** The same for the only link of a mail, as a path of the service. */
  link(email: string): Promise<string>
  /** Compares an answer with the recorded one. Each step needs a different label. */
  see(label: string, answer: Answer): void
  /** Compares a value that is derived from several answers. */
  note(label: string, value: unknown): void
}

export type Scenario = (testEnvironment: TestEnvironment) => Promise<void>

/** Receives the observations of a scenario. `hopeless` means that the scenario has failed already, so it no longer waits. */
export interface Witness {
  see(label: string, answer: Answer): void
  note(label: string, value: unknown): void
  hopeless(): boolean
}

const mailDeadlineMs = 15_000

export function makeTestEnvironment(service: Service, witness: Witness): TestEnvironment {
  /** The content of the newest mail that contains such a part. */
  const mailed = async (email: string, part: typeof getCode): Promise<string> => {
    if (witness.hopeless()) throw new Error(`no mail to ${email} is waited for after a wrong answer`)
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(() => late.reject(new Error(`no mail came to ${email}`)), mailDeadlineMs)
    try {
      for (;;) {
        const found = part(await Promise.race([service.mails.next(email.toLowerCase()), late.promise]))
        if (found !== '') return found
      }
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    browser: (headers) => service.browser(headers),
    clock: service.clock,
    admin: (path, method, json) => service.admin().ask(`/admin${path}`, { method, json }),
    adminPort: () => service.admin(),
    code: (email) => mailed(email, getCode),
    link: async (email) => (await mailed(email, getLink)).replace(`${consoleUrl}/kratos`, ''),
    see: witness.see,
    note: witness.note,
  }
}
