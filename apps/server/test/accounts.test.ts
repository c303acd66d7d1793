import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AccountsTestEnvironment, type Browser, startWithAccounts } from './kit/accounts.ts'
import { until } from './kit/index.ts'

const password = 'an engine of brass'
const newPassword = 'a loom of silk and numbers'

let testEnvironment: AccountsTestEnvironment
let ada: Browser
let team: { id: string; slug: string }

beforeAll(async () => {
  testEnvironment = await startWithAccounts()
  ada = testEnvironment.makeBrowser()
  await ada.register('ada@example.com', password)
  team = (await ada.go('/api/teams', { name: 'Engines', slug: 'engines' })).body as typeof team
})
afterAll(() => testEnvironment?.stop())

let count = 0
const newEmail = () => `guest${++count}@example.com`
const invite = (email: string) =>
  ada.go(`/api/teams/${team.id}/users`, { email, firstName: 'Grace', lastName: 'Hopper' })
const linkIn = (text: string) => new URL(/^(https?:\S+)$/m.exec(text)?.[1] ?? '')
const invitationMail = async (email: string) =>
  linkIn((await testEnvironment.mailTo(email, ({ subject }) => subject.startsWith('Invitation'))).text)
const codeTo = async (email: string, since = '') =>
  /^(\d{6})$/m.exec(
    (await testEnvironment.mailTo(email, (mail) => isCode(mail) && mail.createdAt >= since)).text,
  )?.[1] ?? ''
const isCode = ({ text }: { text: string }) => /^\d{6}$/m.test(text)
const createAccount = (browser: Browser, link: URL, more: Record<string, string> = {}) =>
  browser.go('/api/auth/create-account', {
    flow: link.searchParams.get('flow'),
    code: link.searchParams.get('code'),
    team: link.searchParams.get('team'),
    ...more,
  })
const setPassword = async (browser: Browser, value: string, more: object = {}) =>
  browser.go('/api/auth/settings/change-password', { ...(await browser.begin('settings')), password: value, ...more })
const members = async () => (await ada.go(`/api/teams/${team.id}`)).body.users as { email: string; status: string }[]

describe('an invitation to an unknown address', () => {
  it('signs in, asks for a password and nothing else, and ends with a member who signs in with it', async () => {
    const email = newEmail()
    expect((await invite(email)).status).toBe(201)
    const grace = testEnvironment.makeBrowser()
    const joined = await createAccount(grace, await invitationMail(email))
    expect([joined.status, joined.location]).toEqual([201, '/auth/settings/new-password'])
    expect((await members()).find((member) => member.email === email)).toMatchObject({ status: 'verified' })
    expect(await grace.me()).toMatchObject({ recovered: true })
    const refused = await grace.go('/api/engines/projects')
    expect([refused.status, refused.body]).toMatchObject([403, { property: 'recovered' }])
    expect((await grace.me()).user).toMatchObject({ name: 'Grace Hopper', email })
    expect((await setPassword(grace, newPassword)).status).toBe(200)
    expect(await grace.me()).toMatchObject({ recovered: false })
    expect((await grace.go('/api/engines/projects')).status).toBe(200)
    const again = testEnvironment.makeBrowser()
    expect((await again.login(email, newPassword)).status).toBe(200)
    expect((await again.go('/api/engines/projects')).status).toBe(200)
  })

  it('works once, and its link gives a new code until then', async () => {
    const email = newEmail()
    await invite(email)
    const link = await invitationMail(email)
    const renew = () =>
      testEnvironment.makeBrowser().go('/api/auth/create-account/code', {
        team: team.id,
        invitation: link.searchParams.get('invitation'),
      })
    const wrong = await createAccount(testEnvironment.makeBrowser(), link, { code: '000000' })
    expect([wrong.status, wrong.location, JSON.stringify(wrong.body)]).toEqual([
      200,
      null,
      expect.stringContaining('4060006'),
    ])
    const fresh = (await renew()).body as { flow: string; code: string }
    const grace = testEnvironment.makeBrowser()
    expect((await createAccount(grace, link, fresh)).status).toBe(201)
    expect((await setPassword(grace, newPassword)).status).toBe(200)
    expect(await renew()).toMatchObject({ status: 412, body: { property: 'invitation' } })
    const second = await createAccount(testEnvironment.makeBrowser(), link)
    expect([second.status, second.body]).toMatchObject([404, { property: 'invitation' }])
    expect((await grace.go('/api/engines/projects')).status).toBe(200)
    expect(second.headers.getSetCookie().join()).not.toContain('ory_kratos_session')
  })

  it('signs in no user after its expiry, and can be requested again', async () => {
    const email = newEmail()
    await invite(email)
    const link = await invitationMail(email)
    const { pool } = testEnvironment.server.app.database
    await pool.query(`update crux.invitation set expires_at = now() where email = $1`, [email])
    const browser = testEnvironment.makeBrowser()
    const late = await createAccount(browser, link)
    expect(late).toMatchObject({ status: 412, body: { property: 'teamId', value: 'expired' } })
    expect((await browser.go('/kratos/sessions/whoami')).status).toBe(401)
    await pool.query(`update crux.invitation set mailed_at = now() - interval '1 minute' where email = $1`, [email])
    const { id } = (await members()).find((member) => member.email === email) as unknown as { id: string }
    expect((await ada.go(`/api/teams/${team.id}/users/${id}/reinvite`, undefined, 'POST')).status).toBe(204)
    const next = await until(async () => {
      const found = await invitationMail(email)
      return found.href === link.href ? undefined : found
    })
    expect((await createAccount(testEnvironment.makeBrowser(), next)).status).toBe(201)
  })

  it('signs in the invited user, also in a browser of another user', async () => {
    const email = newEmail()
    await invite(email)
    const shared = testEnvironment.makeBrowser()
    await shared.register(newEmail(), password, 'Mallory')
    expect((await createAccount(shared, await invitationMail(email))).status).toBe(201)
    expect((await shared.me()).user).toMatchObject({ name: 'Grace Hopper', email })
  })

  it('opens only the inviting team', async () => {
    const email = newEmail()
    await invite(email)
    const other = (await ada.go('/api/teams', { name: `Team of ${email}`, slug: `g${count}-team` })).body as {
      id: string
    }
    const answer = await createAccount(testEnvironment.makeBrowser(), await invitationMail(email), { team: other.id })
    expect([answer.status, answer.headers.getSetCookie().join()]).toEqual([
      404,
      expect.not.stringContaining('ory_kratos_session'),
    ])
  })

  it('is created once when two users invite the same address at once', async () => {
    const email = newEmail()
    const answers = await Promise.all([
      invite(email),
      invite(email.toUpperCase().replace('EXAMPLE.COM', 'example.com')),
    ])
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409])
  })
})

describe('an invitation to a user with an account', () => {
  it('leads to the page that asks, and is accepted with their session only', async () => {
    const email = newEmail()
    const charles = testEnvironment.makeBrowser()
    await charles.register(email, password, 'Charles')
    await invite(email)
    expect((await invitationMail(email)).pathname).toBe(`/teams/${team.id}/invitation`)
    const path = `/api/users/me/invitations/${team.id}`
    const thief = testEnvironment.makeBrowser()
    await thief.register(newEmail(), password, 'Mallory')
    expect((await thief.go(path, undefined, 'POST')).status).toBe(404)
    expect((await charles.go(path, undefined, 'POST')).status).toBe(204)
    expect((await charles.go('/api/engines/projects')).status).toBe(200)
  })
})

describe('recovery', () => {
  async function recover(email: string, browser = testEnvironment.makeBrowser()) {
    const flow = await browser.begin('recovery')
    const sent = await browser.go('/api/auth/recovery', { ...flow, email })
    expect([sent.status, sent.body]).toMatchObject([200, { state: 'sent_email' }])
    return { browser, flow }
  }

  it('signs in by a code, and requires a new password before anything else', async () => {
    const email = newEmail()
    await testEnvironment.makeBrowser().register(email, password)
    const { browser, flow } = await recover(email)
    const wrong = await browser.go('/api/auth/recovery', { ...flow, code: '000000' })
    expect(JSON.stringify(wrong.body)).toContain('4060006')
    const right = await browser.go('/api/auth/recovery', { ...flow, code: await codeTo(email) })
    expect([right.status, right.location]).toEqual([201, '/auth/settings/new-password'])
    expect(await browser.go('/api/teams')).toMatchObject({ status: 403, body: { property: 'recovered' } })
    expect((await setPassword(browser, newPassword)).status).toBe(200)
    expect((await browser.go('/api/teams')).status).toBe(200)
    expect((await testEnvironment.makeBrowser().login(email, password)).status).toBe(400)
    expect((await testEnvironment.makeBrowser().login(email, newPassword)).status).toBe(200)
  })

  /** Recovers as clients other than our pages do: only by the flows of the identity service. */
  async function recoverDirectly(email: string) {
    const browser = testEnvironment.makeBrowser()
    const { flow, csrfToken: csrf_token } = await browser.begin('recovery')
    const post = (fields: object) =>
      browser.go(`/kratos/self-service/recovery?flow=${flow}`, { method: 'code', csrf_token, ...fields })
    const before = new Date().toISOString()
    await post({ email })
    expect((await post({ code: await codeTo(email, before) })).status).toBe(422)
    return browser
  }
  async function postSettings(browser: Browser, fields: object) {
    const { flow, csrfToken: csrf_token } = await browser.begin('settings')
    return browser.go(`/kratos/self-service/settings?flow=${flow}`, { csrf_token, ...fields })
  }

  it('requires a new password also without our pages, by a code or by the link of an administrator', async () => {
    const email = newEmail()
    const someone = testEnvironment.makeBrowser()
    await someone.register(email, password)
    const byCode = await recoverDirectly(email)
    const byLink = testEnvironment.makeBrowser()
    const { id } = (await someone.me()).user
    const made = await testEnvironment.admin('/admin/recovery/link', { identity_id: id })
    const { pathname, search } = new URL(made.recovery_link as string)
    expect((await byLink.go(`${pathname}${search}`)).status).toBe(303)
    for (const browser of [byCode, byLink]) {
      expect(await browser.go('/api/teams')).toMatchObject({ status: 403, body: { property: 'recovered' } })
      expect(
        (await postSettings(browser, { method: 'profile', traits: { email, name: { first: 'Eve' } } })).status,
      ).toBe(200)
      expect(await browser.go('/api/teams')).toMatchObject({ status: 403, body: { property: 'recovered' } })
    }
    expect((await someone.go('/api/teams')).status).toBe(200)
    expect((await postSettings(byCode, { method: 'password', password: newPassword })).status).toBe(200)
    expect((await byCode.go('/api/teams')).status).toBe(200)
  })

  it('is complete for the session in which a password was set, and not for one that was recovered later', async () => {
    const email = newEmail()
    await testEnvironment.makeBrowser().register(email, password)
    const first = await recoverDirectly(email)
    expect((await setPassword(first, newPassword)).status).toBe(200)
    expect((await first.go('/api/teams')).status).toBe(200)
    const { id } = (await first.me()).user
    await testEnvironment.server.app.database.pool.query('delete from identity.rate_limits')
    const second = await recoverDirectly(email)
    expect((await second.go('/api/teams')).status).toBe(403)
    expect((await first.go('/api/teams')).status).toBe(200)
    const { metadata_admin } = await testEnvironment.admin(`/admin/identities/${id}`)
    expect(metadata_admin).toMatchObject({ recovery_settled: expect.any(String) })
  })

  it('is complete for a user who signs in with the old password', async () => {
    const email = newEmail()
    await testEnvironment.makeBrowser().register(email, password)
    const { browser, flow } = await recover(email)
    await browser.go('/api/auth/recovery', { ...flow, code: await codeTo(email) })
    const other = testEnvironment.makeBrowser()
    expect((await other.login(email, password)).status).toBe(200)
    expect((await other.go('/api/teams')).status).toBe(200)
    expect((await browser.go('/api/teams')).status).toBe(200)
  })

  it('does not reveal which addresses have an account', async () => {
    const known = await recover('ada@example.com')
    const unknown = await recover('nobody@example.com')
    const { browser } = known
    const bare = (body: Record<string, unknown>) => Object.keys(body).sort()
    const [one, other] = await Promise.all([
      browser.go('/api/auth/recovery', { ...known.flow, code: '111111' }),
      unknown.browser.go('/api/auth/recovery', { ...unknown.flow, code: '111111' }),
    ])
    expect([one.status, bare(one.body)]).toEqual([other.status, bare(other.body)])
  })
})

describe('account settings', () => {
  it('change name and address, which all users see at once', async () => {
    const email = newEmail()
    const browser = testEnvironment.makeBrowser()
    await browser.register(email, password, 'Mary', 'Shelley')
    const changed = await browser.go('/api/auth/settings/edit-profile', {
      ...(await browser.begin('settings')),
      email,
      firstName: 'Mary',
      lastName: 'Somerville',
    })
    expect(changed.status).toBe(200)
    await until(
      async () => ((await browser.me()) as unknown as { user: { name: string } }).user.name === 'Mary Somerville',
      1_000,
    )
  })

  it('lead users with an old sign-in to the page that confirms it, without a change', async () => {
    const email = newEmail()
    const browser = testEnvironment.makeBrowser()
    await browser.register(email, password)
    await testEnvironment.server.app.database.pool.query(
      `update identity.sessions set authenticated_at = now() - interval '1 hour'
        where identity_id = (select id from identity.identities where traits->>'email' = $1)`,
      [email],
    )
    const refused = await setPassword(browser, newPassword)
    expect(refused).toMatchObject({
      status: 403,
      body: {
        error: 'forbidden',
        redirect_browser_to: expect.stringContaining('refresh=true'),
        value: { error: { id: 'session_refresh_required' } },
      },
    })
    expect((await testEnvironment.makeBrowser().login(email, password)).status).toBe(200)
  })

  it('report what is wrong with a password, and end the other sessions on request', async () => {
    const email = newEmail()
    const [here, there] = [testEnvironment.makeBrowser(), testEnvironment.makeBrowser()]
    await here.register(email, password)
    await there.login(email, password)
    const weak = await setPassword(here, 'short')
    expect([weak.status, JSON.stringify(weak.body)]).toEqual([400, expect.stringContaining('4000032')])
    expect((await setPassword(here, newPassword)).status).toBe(200)
    expect((await there.go('/api/teams')).status).toBe(200)
    expect((await setPassword(here, `${newPassword}!`, { signOutOthers: true })).status).toBe(200)
    await until(async () => (await there.go('/api/teams')).status === 401, 1_000)
    expect((await here.go('/api/teams')).status).toBe(200)
  })

  it('require a session', async () => {
    for (const path of ['edit-profile', 'change-password', 'oidc'])
      expect((await testEnvironment.makeBrowser().go(`/api/auth/settings/${path}`, {})).status).toBe(401)
  })
})
