/**
 * Records what a real Ory Kratos answers to the journeys, for kratos.test.ts to hold our service against:
 *   node test/kratos/record.ts PUBLIC_URL ADMIN_URL CONSOLE_URL SMTP_PORT
 * The server must run with the configuration that docs/identity.md names and send its mail to SMTP_PORT, where this
 * script listens.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Browser } from '../browser.ts'
import { codeOf, startMailServer } from '../mail-server.ts'
import { journeys } from './journeys.ts'
import { type Observation, observe } from './observe.ts'

const [publicUrl = '', adminUrl = '', consoleUrl = '', smtpPort = ''] = process.argv.slice(2)
const mailServer = await startMailServer({ port: Number(smtpPort) })
const recording: Record<string, Record<string, Observation>> = {}
for (const [name, journey] of Object.entries(journeys)) {
  const seen: Record<string, Observation> = {}
  recording[name] = seen
  await journey({
    consoleUrl,
    browser: (headers) => new Browser(publicUrl, headers),
    admin: (path, method, json) => new Browser(adminUrl).ask(`/admin${path}`, { method, json }),
    code: async (email) => codeOf(await mailServer.next(email.toLowerCase())),
    see: (label, answer) => {
      seen[label] = observe(answer, consoleUrl)
    },
  })
}
await mailServer.close()
// A line per answer, so that a changed one shows in a diff.
const lines = Object.entries(recording).map(([name, seen]) => {
  const answers = Object.entries(seen).map(([label, answer]) => `  ${JSON.stringify(label)}: ${JSON.stringify(answer)}`)
  return ` ${JSON.stringify(name)}: {\n${answers.join(',\n')}\n }`
})
writeFileSync(join(import.meta.dirname, 'generated/recording.json'), `{\n${lines.join(',\n')}\n}\n`)
