import type { Answer, Browser } from '../browser.ts'
import { consoleUrl } from '../console-url.ts'
import { codeOf, linkOf, type MailServer } from '../mail-server.ts'
import type { Clock } from './clock.ts'

/** A service under test: the original or ours. */
export interface Service {
  publicUrl: string
  mails: MailServer
  clock: Clock
  browser(headers?: Record<string, string>): Browser
  /** Who calls the admin port, with its credential where one is needed. */
  admin(): Browser
}

/** What a scenario works with. */
export interface TestEnvironment {
  browser: Service['browser']
  clock: Clock
  /** An answer of the admin API; paths without `/admin`. */
  admin<T>(path: string, method?: string, json?: unknown): Promise<Answer<T>>
  adminPort(): Browser
  /** The newest code that was mailed to an address and not yet handed out. */
  code(email: string): Promise<string>
  /** The same for the one link of a mail, as a path of the service. */
  link(email: string): Promise<string>
  /** Compares an answer with the recorded one. Steps have different labels. */
  see(label: string, answer: Answer): void
  /** Compares what follows from several answers. */
  note(label: string, value: unknown): void
}

export type Scenario = (testEnvironment: TestEnvironment) => Promise<void>

/** Takes what a scenario saw. `hopeless` tells that the scenario has gone wrong already, so nothing is waited for. */
export interface Witness {
  see(label: string, answer: Answer): void
  note(label: string, value: unknown): void
  hopeless(): boolean
}

const mailDeadlineMs = 15_000

export function makeTestEnvironment(service: Service, witness: Witness): TestEnvironment {
  /** What the newest mail holds, past those that hold no such thing. */
  const mailed = async (email: string, part: typeof codeOf): Promise<string> => {
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
    code: (email) => mailed(email, codeOf),
    link: async (email) => (await mailed(email, linkOf)).replace(`${consoleUrl}/kratos`, ''),
    see: witness.see,
    note: witness.note,
  }
}
