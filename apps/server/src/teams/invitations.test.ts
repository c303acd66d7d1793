import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { getLink, type MailServer, startMailServer } from '../../../identity/test/mail-server.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { createAccounts } from '../identity/accounts.ts'

let mailServer: MailServer
let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  mailServer = await startMailServer()
  const smtpUri = `smtp://127.0.0.1:${mailServer.port}/?disable_starttls=true`
  const mailFrom = { name: 'Crux', address: 'crux@example.com' }
  crux = await startTestServer({ config: { smtpUri, mailFrom } })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada, 'Analytical Engines')
})
afterAll(async () => {
  await crux.stop()
  await mailServer.close()
})

let count = 0
const newEmail = () => `guest${++count}@example.com`
const invite = (email: string, as = ada, at = team, firstName = 'Grace', lastName?: string) =>
  crux.client(as).call('teams.invite', { params: { teamId: at.id }, body: { email, firstName, lastName } })
const reinvite = (userId: string, as = ada, at = team) =>
  crux.client(as).call('teams.reinvite', { params: { teamId: at.id, userId } })
const accept = (as: Someone, at = team) =>
  crux.client(as).call('users.accept-invitation', { params: { teamId: at.id } })
const decline = (as: Someone, at = team) =>
  crux.client(as).call('users.decline-invitation', { params: { teamId: at.id } })
const details = (at = team, as = ada) => crux.client(as).call('teams.get', { params: { teamId: at.id } })
const getStatus = async (userId: string, at = team) => (await details(at)).users.find(({ id }) => id === userId)?.status
const age = (userId: string, by: string, column: 'expires_at' | 'mailed_at' = 'expires_at') =>
  crux.app.database.pool.query(
    `update crux.invitation set ${column} = ${column} - $2::interval where team_id = $1 and user_id = $3`,
    [team.id, by, userId],
  )
/** A user with an account that has signed in before, and an invitation. */
async function invited(at = team) {
  const someone = crux.signUp()
  await invite(someone.email, ada, at)
  return someone
}

describe('an invitation', () => {
  it('creates an account for an unknown address, whose mail has a code and a link to a new one', async () => {
    const email = newEmail()
    const member = await invite(email, ada, team, 'Grace', 'Hopper')
    expect(member).toMatchObject({ name: 'Grace Hopper', email, role: 'user', status: 'pending' })
    const mail = await mailServer.next(email)
    expect(mail.subject).toBe('Invitation to the team Analytical Engines')
    expect(mail.text).toContain('Ada Byron invites you to join the team "Analytical Engines" on Crux.')
    expect(mail.text).toContain('one week')
    const link = new URL(getLink(mail))
    expect([link.origin, link.pathname]).toEqual([crux.url, '/auth/create-account'])
    expect(Object.fromEntries(link.searchParams)).toEqual({
      team: team.id,
      flow: expect.stringMatching(/.+/),
      code: expect.stringMatching(/^\d{6}$/),
      invitation: expect.stringMatching(/^[\w-]{43}$/),
    })
    const renew = (invitation: string, at = team.id) =>
      crux.client().call('auth.renew-invitation-code', { body: { team: at, invitation } })
    const secret = link.searchParams.get('invitation') ?? ''
    expect(await renew(secret)).toMatchObject({ code: expect.stringMatching(/^\d{6}$/) })
    const other = await crux.createTeam(ada)
    for (const wrong of [() => renew(`${secret.slice(0, -4)}AAAA`), () => renew(secret, other.id)])
      await expect(wrong()).rejects.toMatchObject({ status: 412, property: 'invitation', value: 'expired' })
    const { rows } = await crux.app.database.pool.query('select * from crux.invitation where user_id = $1', [member.id])
    const { rows: jobs } = await crux.app.database.pool.query(
      `select data from jobs.job where name = 'invitation-mail'`,
    )
    expect(JSON.stringify([rows, jobs])).not.toContain(secret)
    crux.people.signIn({ id: member.id, name: member.name, email })
    await expect(renew(secret)).rejects.toMatchObject({ status: 412, property: 'invitation', value: 'signIn' })
  })

  it('leads users with an account to the page that asks them, and hides their name until they join', async () => {
    const someone = crux.signUp('Charles Babbage')
    const member = await invite(someone.email.toUpperCase(), ada, team, 'Charly')
    expect(member).toMatchObject({ id: someone.id, name: 'Charly', status: 'pending' })
    const mail = await mailServer.next(`${someone.email.split('@')[0]?.toUpperCase()}@example.com`)
    expect(getLink(mail)).toBe(`${crux.url}/teams/${team.id}/invitation`)
    const me = await crux.client(someone).call('users.me')
    expect(me.invitations).toEqual([team])
    const before = (await details()).statistics.users
    await accept(someone)
    expect((await crux.client(someone).call('users.me')).teams).toMatchObject([{ id: team.id, role: 'user' }])
    expect((await crux.client(someone).call('users.me')).invitations).toEqual([])
    const after = await details()
    expect(after.statistics.users).toBe(before)
    expect(after.users.find(({ id }) => id === someone.id)).toMatchObject({
      name: 'Charles Babbage',
      role: 'user',
      status: 'verified',
    })
  })

  it('is refused for members and for users with a pending one, whatever the case of the address', async () => {
    const member = await crux.addMember(team, 'user')
    const email = newEmail()
    await invite(email)
    for (const taken of [member.email, member.email.toUpperCase(), email, email.toUpperCase()])
      await expect(invite(taken)).rejects.toMatchObject({ status: 409, property: 'email' })
  })

  it('is created once when two users invite the same user at once, and sends one mail', async () => {
    const admin = await crux.addMember(team, 'admin')
    for (const email of [newEmail(), crux.signUp().email]) {
      const outcomes = await Promise.allSettled([invite(email), invite(email, admin)])
      expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect(outcomes.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { status: 409, property: 'email' },
      })
      await mailServer.next(email)
      await idle()
      expect(mailServer.mails.filter((mail) => mail.to?.some(({ address }) => address === email))).toHaveLength(1)
    }
  })

  it('is valid only for the invited user: another session finds nothing, and joining twice creates one membership', async () => {
    const someone = await invited()
    const thief = crux.signUp()
    for (const act of [accept, decline])
      await expect(act(thief)).rejects.toMatchObject({ status: 404, property: 'invitation' })
    const outcomes = await Promise.allSettled([accept(someone), accept(someone)])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const { rows } = await crux.app.database.pool.query('select role from crux.team_member where user_id = $1', [
      someone.id,
    ])
    expect(rows).toEqual([{ role: 'user' }])
  })

  it('is refused to a user who registered with the address without proving it, or proved another address', async () => {
    const squatter = await invited()
    crux.people.verify(squatter, false)
    await expect(accept(squatter)).rejects.toMatchObject({ status: 412, property: 'email' })
    crux.people.verify({ ...squatter, email: 'squatter@example.com' }, true)
    await expect(accept(squatter)).rejects.toMatchObject({ status: 412, property: 'email' })
    expect(await getStatus(squatter.id)).toBe('pending')
    crux.people.verify({ ...squatter, email: squatter.email.toUpperCase() }, true)
    await accept(squatter)
    expect(await getStatus(squatter.id)).toBe('verified')
  })

  it('expires after 7 days, and is renewed by another mail', async () => {
    const someone = await invited()
    await mailServer.next(someone.email)
    await age(someone.id, '7 days')
    expect((await crux.client(someone).call('users.me')).invitations).toEqual([])
    expect(await getStatus(someone.id)).toBe('expired')
    await expect(accept(someone)).rejects.toMatchObject({ status: 412, property: 'teamId', value: 'expired' })
    const { rows } = await crux.app.database.pool.query('select status from crux.invitation where user_id = $1', [
      someone.id,
    ])
    expect(rows).toEqual([{ status: 'expired' }])
    await age(someone.id, '30 seconds', 'mailed_at')
    await reinvite(someone.id)
    await mailServer.next(someone.email)
    expect(await getStatus(someone.id)).toBe('pending')
    await accept(someone)
  })

  it('stays declined, and is replaced by a new invitation', async () => {
    const someone = await invited()
    await decline(someone)
    await decline(someone)
    expect(await getStatus(someone.id)).toBe('declined')
    await expect(accept(someone)).rejects.toMatchObject({ status: 412, property: 'teamId', value: 'declined' })
    await age(someone.id, '1 minute', 'mailed_at')
    await expect(reinvite(someone.id)).rejects.toMatchObject({ status: 412, property: 'userId' })
    await invite(someone.email)
    expect(await getStatus(someone.id)).toBe('pending')
    await accept(someone)
  })

  it('is sent again every 30 seconds at most, and the previous link becomes invalid', async () => {
    const email = newEmail()
    const { id } = await invite(email)
    const first = new URL(getLink(await mailServer.next(email)))
    const answer = await crux.request(`/api/teams/${team.id}/users/${id}/reinvite`, { method: 'POST', as: ada })
    expect([answer.status, await answer.json()]).toMatchObject([429, { error: 'tooManyRequests' }])
    const wait = Number(answer.headers.get('retry-after'))
    expect(wait).toBeGreaterThan(0)
    expect(wait).toBeLessThanOrEqual(30)
    await age(id, '30 seconds', 'mailed_at')
    await reinvite(id)
    const second = new URL(getLink(await mailServer.next(email)))
    const renew = (link: URL) =>
      crux.client().call('auth.renew-invitation-code', {
        body: { team: team.id, invitation: link.searchParams.get('invitation') ?? '' },
      })
    await expect(renew(first)).rejects.toMatchObject({ status: 412 })
    await renew(second)
    await expect(reinvite('01a1fe69-35bc-702a-a798-000000000000')).rejects.toMatchObject({
      status: 404,
      property: 'userId',
    })
  })

  it('is invalid after it was revoked', async () => {
    const someone = await invited()
    await crux.client(ada).call('teams.remove-user', { params: { teamId: team.id, userId: someone.id } })
    await expect(accept(someone)).rejects.toMatchObject({ status: 404 })
    expect(await getStatus(someone.id)).toBeUndefined()
  })

  it('shows names as text on one line, and is sent to no other address', async () => {
    const own = await crux.createTeam(ada, 'Evil\r\nBcc: victim@example.com <img src=x>')
    const email = newEmail()
    await invite(email, ada, own)
    const mail = await mailServer.next(email)
    expect(mail.subject).toBe('Invitation to the team Evil Bcc: victim@example.com <img src=x>')
    expect(mail.to).toMatchObject([{ address: email }])
    expect(mail.bcc ?? []).toEqual([])
    expect(mail.html).toContain('&lt;img src=x&gt;')
    expect(mail.html).not.toContain('<img')
  })

  it('is limited per mailbox over all teams, and each link gives a limited number of codes', async () => {
    const email = newEmail()
    for (let sent = 0; sent < 10; sent++) {
      const { id } = await invite(email)
      await crux.client(ada).call('teams.remove-user', { params: { teamId: team.id, userId: id } })
    }
    const other = crux.signUp()
    const own = await crux.createTeam(other)
    await expect(invite(email.toUpperCase(), other, own)).rejects.toMatchObject({ status: 429, property: 'email' })
    const guest = newEmail()
    await invite(guest)
    const link = new URL(getLink(await mailServer.next(guest)))
    const body = { team: team.id, invitation: link.searchParams.get('invitation') ?? '' }
    const renew = () => crux.client().call('auth.renew-invitation-code', { body })
    for (let asked = 0; asked < 20; asked++) await renew()
    await expect(renew()).rejects.toMatchObject({ status: 429 })
  })

  it('is sent later when the mail server refuses temporarily', async () => {
    const email = newEmail()
    mailServer.refuseWith(451)
    const { id } = await invite(email)
    await until(async () => (await mailJobs('retry')).length === 1)
    expect(await getStatus(id)).toBe('pending')
    mailServer.refuseWith(undefined)
    expect(getLink(await mailServer.next(email))).toContain('/auth/create-account?')
  })

  it('shows that the mail server refused its mail permanently, until the next mail is requested', async () => {
    const email = newEmail()
    const row = async () => (await details()).users.find((user) => user.email === email)
    mailServer.refuseWith(550)
    const { id, mailProblem } = await invite(email)
    expect(mailProblem ?? null).toBeNull()
    await until(async () => (await row())?.mailProblem)
    expect(await row()).toMatchObject({ status: 'pending', mailProblem: '550 not now' })
    await idle()
    mailServer.refuseWith(undefined)
    await age(id, '30 seconds', 'mailed_at')
    await reinvite(id)
    expect(await row()).toMatchObject({ status: 'pending', mailProblem: null })
    expect(getLink(await mailServer.next(email))).toContain('/auth/create-account?')
    await idle()
    expect((await row())?.mailProblem).toBeNull()
  })

  it('leaves no data behind when the identity service is unavailable', async () => {
    const lost = createAccounts({ adminUrl: 'http://127.0.0.1:9', adminToken: undefined, log: crux.app.log })
    const away = await startTestServer({
      database: crux.database,
      people: crux.people,
      config: { smtpUri: crux.app.config.smtpUri },
      overrides: { identity: crux.people.identity, accounts: lost },
    })
    const email = newEmail()
    await expect(
      away.client(ada).call('teams.invite', { params: { teamId: team.id }, body: { email, firstName: 'Grace' } }),
    ).rejects.toMatchObject({ status: 503, property: 'kratos' })
    await away.stop({ database: true })
    expect((await details()).users.filter((user) => user.email === email)).toEqual([])
    await invite(email)
  })

  it('cannot be sent without a mail server', async () => {
    const mute = await startTestServer({ database: crux.database, people: crux.people })
    const body = { email: newEmail(), firstName: 'Grace' }
    await expect(mute.client(ada).call('teams.invite', { params: { teamId: team.id }, body })).rejects.toMatchObject({
      status: 412,
      property: 'email',
    })
    await mute.stop({ database: true })
  })

  it('is recorded in the audit log with the user who answered, and refusals too', async () => {
    const own = await crux.createTeam(ada)
    const [one, other] = [await invited(own), await invited(own)]
    await accept(one, own)
    await decline(other, own)
    await expect(accept(other, own)).rejects.toMatchObject({ status: 412 })
    const { rows } = await crux.app.database.pool.query(
      `select actor_id, event, accepted from crux.audit_log where team_id = $1 and event like 'invitation %' order by id`,
      [own.id],
    )
    expect(rows).toEqual([
      { actorId: one.id, event: 'invitation users.accept-invitation', accepted: true },
      { actorId: other.id, event: 'invitation users.decline-invitation', accepted: true },
      { actorId: other.id, event: 'invitation users.accept-invitation', accepted: false },
    ])
  })
})

describe('allowed domains of a team', () => {
  const setDomains = (at: TestTeam, allowedDomains: string[]) =>
    crux.client(ada).call('teams.update-security', {
      params: { teamId: at.id },
      body: { secondFactorRequired: false, allowedDomains },
    })

  it('are checked when a user is invited and when they accept', async () => {
    const own = await crux.createTeam(ada)
    const someone = await invited(own)
    await setDomains(own, ['Crux.example', 'crux.example', 'other.example'])
    expect((await details(own)).security.allowedDomains).toEqual(['crux.example', 'other.example'])
    const refusal = { status: 412, property: 'email' }
    await expect(accept(someone, own)).rejects.toMatchObject(refusal)
    for (const email of ['a@example.com', 'a@sub.crux.example', 'a@evilcrux.example', 'crux.example@evil.example'])
      await expect(invite(email, ada, own)).rejects.toMatchObject(refusal)
    await invite('A@CRUX.example', ada, own)
    await setDomains(own, [])
    await accept(someone, own)
  })

  it('apply to verified addresses only', async () => {
    const own = await crux.createTeam(ada)
    const someone = await invited(own)
    await setDomains(own, ['example.com'])
    crux.people.verify(someone, false)
    await expect(accept(someone, own)).rejects.toMatchObject({ status: 412, property: 'email' })
    crux.people.verify(someone, true)
    await accept(someone, own)
  })

  it('are changed by owners only', async () => {
    const admin = await crux.addMember(team, 'admin')
    const body = { secondFactorRequired: false, allowedDomains: [] }
    await expect(
      crux.client(admin).call('teams.update-security', { params: { teamId: team.id }, body }),
    ).rejects.toMatchObject({ status: 403 })
  })
})

async function mailJobs(...states: string[]) {
  const { rows } = await crux.app.database.pool.query(
    `select 1 from jobs.job where name = 'invitation-mail' and state::text = any($1)`,
    [states],
  )
  return rows
}
/** Waits until no mail of an invitation is queued. */
const idle = () => until(async () => (await mailJobs('created', 'active', 'retry')).length === 0)
