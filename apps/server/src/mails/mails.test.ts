import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { captureMail } from '@crux/service-kit/mail'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import type { Config } from '../config/config.ts'
import type { Input } from '../http/handlers.ts'
import { mailRoutes } from './routes.ts'

const token = 'the-token-of-this-start'
const directory = mkdtempSync(join(tmpdir(), 'crux-mails-'))
const kept = (to: string) => captureMail(directory, { to, subject: 'Hello', text: `Hello ${to}`, html: '<p>Hello</p>' })

let crux: TestServer
beforeAll(async () => {
  crux = await startTestServer({ config: { mails: { directory, token } } })
})
afterAll(async () => {
  await crux.stop()
  rmSync(directory, { recursive: true, force: true })
})

const ask = (given: string) => crux.client().call('mails.list', { body: { token: given } })

describe('captured mails', () => {
  it('are shown, newest first, with the token', async () => {
    expect(await ask(token)).toEqual([])
    const first = kept('one@example.com')
    // The names of the files sort by the millisecond.
    await until(() => Date.now() > Date.parse(first.createdAt))
    const second = kept('two@example.com')
    expect(await ask(token)).toEqual([second, first])
  })

  it('contain the text of an invitation', async () => {
    const ada = crux.signUp('Ada Byron')
    const team = await crux.createTeam(ada)
    const body = { email: 'guest@example.com', firstName: 'Grace' }
    await crux.client(ada).call('teams.invite', { params: { teamId: team.id }, body })
    await expect.poll(() => ask(token)).toMatchObject([{ to: 'guest@example.com' }, {}, {}])
  })

  it('are not found where a mail server is set, no token was given, or other machines can reach the server', async () => {
    const elsewhere: Partial<Config>[] = [
      { mails: { directory, token }, smtpUri: 'smtp://127.0.0.1:9' },
      { mails: { directory, token: undefined } },
      { mails: undefined },
      { mails: { directory, token }, embedded: false },
      { mails: { directory, token }, url: 'https://crux.example.com' },
    ]
    for (const config of elsewhere) {
      const routes = mailRoutes({ ...crux.app, config: { ...crux.app.config, ...config } })
      const answer = routes['mails.list']({ body: { token } } as Input<'mails.list'>)
      await expect(answer).rejects.toMatchObject({ status: 404, code: 'notFound' })
    }
  })

  it('are refused after ten wrong tokens, also with the right one', async () => {
    for (let tries = 0; tries < 10; tries++)
      await expect(ask(`${token}${tries}`)).rejects.toMatchObject({ status: 403, property: 'token' })
    const answer = await crux.request('/api/mails', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    })
    expect(answer.status).toBe(429)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(500)
  })
})
