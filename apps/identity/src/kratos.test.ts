import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Browser } from '../test/browser.ts'
import { adminToken, consoleUrl, startTestIdentity, type TestIdentity } from '../test/identity.ts'
import { journeys } from '../test/kratos/journeys.ts'
import { type Observation, observe } from '../test/kratos/observe.ts'
import { codeOf, type MailServer, startMailServer } from '../test/mail-server.ts'

/** What ours does otherwise on purpose, by journey and step; docs/identity.md says why. */
const deliberate: Record<string, string[]> = {
  // What a refused body holds is not read, so it is not put into the form either.
  'sign in by api': ['with a cookie', 'broken body'],
  // API clients get no csrf cookie and no csrf input; `active` stays the flow's; no transient payload is kept.
  'verify by api': ['used again', 'wrong code', 'not an address', 'by link'],
  // A path of nobody is like every other: the csrf cookie comes with it.
  addresses: ['/version'],
}

const recording = JSON.parse(
  readFileSync(join(import.meta.dirname, '../test/kratos/generated/recording.json'), 'utf8'),
) as Record<string, Record<string, Observation>>

let mailServer: MailServer
let identity: TestIdentity
beforeAll(async () => {
  mailServer = await startMailServer()
  identity = await startTestIdentity({ SMTP_URI: `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true` })
})
afterAll(async () => {
  await identity.stop()
  await mailServer.close()
})

it.each(Object.entries(journeys))('answers as the recorded Ory Kratos: %s', async (name, journey) => {
  const seen: Record<string, Observation> = {}
  await journey({
    consoleUrl,
    browser: (headers) => identity.browser(headers),
    admin: (path, method, json) =>
      new Browser(identity.adminUrl, { authorization: `Bearer ${adminToken}` }).ask(`/admin${path}`, { method, json }),
    code: async (email) => codeOf(await mailServer.next(email.toLowerCase())),
    see: (label, answer) => {
      seen[label] = observe(answer, consoleUrl)
    },
  })
  const recorded = recording[name] ?? {}
  const differs = deliberate[name] ?? []
  expect(Object.keys(seen)).toEqual(Object.keys(recorded))
  for (const [label, observation] of Object.entries(seen)) {
    if (differs.includes(label)) expect(observation, `${label} is said to differ`).not.toEqual(recorded[label])
    else expect(observation, label).toEqual(recorded[label])
  }
})
