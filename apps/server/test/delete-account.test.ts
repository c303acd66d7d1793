import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AccountsTestEnvironment, type Browser, startWithAccounts } from './kit/accounts.ts'
import { until } from './kit/index.ts'

const password = 'an engine of brass'

let testEnvironment: AccountsTestEnvironment
beforeAll(async () => {
  testEnvironment = await startWithAccounts({ config: { rateLimits: false } })
})
afterAll(() => testEnvironment?.stop())

let serial = 0
async function makeOwner() {
  const email = `leaver${++serial}@example.com`
  const browser = testEnvironment.makeBrowser()
  await browser.register(email, password, 'Grace', 'Hopper')
  const slug = `leaver-${serial}`
  const team = (await browser.go('/api/teams', { name: slug, slug })).body as { id: string }
  const { id } = (await browser.me()).user
  return { email, browser, slug, teamId: team.id, id }
}
const leave = (browser: Browser, email: string) => browser.go('/api/users/me', { email }, 'DELETE')
const sql = async (text: string, values: unknown[]) =>
  (await testEnvironment.server.app.database.pool.query(text, values)).rows

it("deleting the account of a team's only owner names the required step, and deletes nothing", async () => {
  const { browser, email, slug, id } = await makeOwner()
  const refused = await leave(browser, email)
  expect([refused.status, refused.body]).toMatchObject([412, { property: 'teams', value: slug }])
  expect(String(refused.body.description)).toContain('Make another member an owner, or delete the team')
  expect((await browser.me()).user.id).toBe(id)
})

it('deleting an account requires its address, and a sign-in of the last five minutes', async () => {
  const { browser, email, id } = await makeOwner()
  expect(await leave(browser, 'somebody@example.com')).toMatchObject({ status: 400, body: { property: 'email' } })
  await sql(`update identity.sessions set authenticated_at = now() - interval '1 hour' where identity_id = $1`, [id])
  await until(async () => {
    const { status, body } = await leave(browser, email)
    return status === 403 && body.property === 'session'
  }, 5_000)
})

it('deleting an account ends its sessions, tokens, memberships and invitations, and keeps the name in the audit log', async () => {
  const owner = await makeOwner()
  const { browser, email, id, teamId, slug } = owner
  const other = await makeOwner()
  const token = (await browser.go('/api/tokens', { name: 'Script', expirationInDays: 0 })).body.token as string
  const use = async () =>
    (await fetch(`${testEnvironment.server.url}/api/${slug}/nodes`, { headers: { authorization: `Bearer ${token}` } }))
      .status
  expect(await use()).toBe(200)
  await browser.go('/api/users/me/preferences/onboarding', undefined, 'DELETE')
  await browser.go(`/api/${slug}/projects`, { name: 'Engine', type: 'versioned' })
  await sql(`insert into crux.team_member (team_id, user_id, role) values ($1, $2, 'owner')`, [teamId, other.id])
  await other.browser.go(`/api/teams/${other.teamId}/users`, { email, firstName: 'Grace' })

  expect((await leave(browser, email.toUpperCase())).status).toBe(204)
  expect((await browser.go('/kratos/sessions/whoami')).status).toBe(401)
  expect((await browser.go('/api/teams')).status).toBe(401)
  expect(await use()).toBe(401)
  for (const table of ['team_member', 'invitation', 'access_token'])
    expect(await sql(`select 1 from crux.${table} where user_id = $1`, [id]), table).toEqual([])
  expect(await sql('select 1 from identity.identities where id = $1', [id])).toEqual([])
  const entries = await sql(
    'select actor_name as name, event from crux.audit_log where team_id = $1 and actor_id = $2',
    [teamId, id],
  )
  expect(entries).toContainEqual({ name: 'Grace Hopper', event: 'project projects.create' })
  expect(entries).toContainEqual({ name: 'Grace Hopper', event: 'team-member users.delete-me' })
  expect((await other.browser.go(`/api/teams/${teamId}`)).status).toBe(200)

  const again = testEnvironment.makeBrowser()
  expect((await again.login(email, password)).status).toBe(400)
  expect((await again.register(email, password)).status).toBe(200)
})
