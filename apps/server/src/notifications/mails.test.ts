import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { listCapturedMails } from '@crux/service-kit/mail'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { createNotifications } from '../../test/notification-kit.ts'

let directory: string
let server: TestServer
let fixture: DeployTestEnvironment
let notifications: ReturnType<typeof createNotifications>
let mary: Someone
let john: Someone
const lines: string[] = []

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-mails-'))
  const log = createLogger({ name: 'test', level: 'trace', destination: { write: (line) => void lines.push(line) } })
  server = await startTestServer({ config: { mails: { directory, token: undefined } }, overrides: { log } })
  fixture = await makeDeployTestEnvironment(server)
  notifications = createNotifications(fixture)
  mary = await server.addMember(fixture.team, 'user', 'Mary')
  john = await server.addMember(fixture.team, 'admin', 'John')
})
afterAll(async () => {
  await server.stop()
  await rm(directory, { recursive: true })
})

const create = () => notifications.create({ type: 'email', url: '', memberIds: [mary.id, john.id] })
const mailsTo = ({ email }: Someone) => listCapturedMails(directory).filter(({ to }) => to === email)
const ended = (id: string, count: number) =>
  until(async () => {
    const deliveries = await notifications.deliveries(id)
    return deliveries.length >= count && deliveries.every(({ status }) => status !== 'pending') ? deliveries : undefined
  }, 20_000)

describe('a notification by e-mail', () => {
  it('sends one mail to each member, with the sentence, the team and a link', async () => {
    const { id } = await create()
    await notifications.addNode('<b>Rack</b>')
    const deliveries = await ended(id, 2)
    expect(deliveries.map(({ recipient, status, statusCode }) => [recipient, status, statusCode]).sort()).toEqual([
      ['John', 'delivered', null],
      ['Mary', 'delivered', null],
    ])
    for (const member of [mary, john]) {
      const [mail, ...more] = mailsTo(member)
      expect(more).toEqual([])
      expect(mail?.subject).toBe(`[${fixture.team.name}] Ada added the node <b>Rack</b>.`)
      expect(mail?.text).toContain(`${server.url}/${fixture.team.slug}/nodes/`)
      expect(mail?.html).toContain('&lt;b&gt;Rack&lt;/b&gt;')
      expect(mail?.html).not.toContain('<b>Rack')
    }
    await notifications.remove(id)
  })

  it('sends nothing to a member without a verified address, and nothing to one that left the team before', async () => {
    const { id } = await create()
    const before = [mary, john].map((member) => mailsTo(member).length)
    server.people.verify(mary, false)
    await server.app.database.pool.query('delete from crux.team_member where user_id = $1', [john.id])
    await expect(notifications.test(id)).rejects.toMatchObject({ status: 400, property: 'memberIds' })
    await notifications.addNode()
    const deliveries = await ended(id, 2)
    expect(deliveries.map(({ recipient, error }) => [recipient, error])).toEqual([
      ['Mary', 'unverified address'],
      ['Mary', 'unverified address'],
    ])
    expect([mary, john].map((member) => mailsTo(member).length)).toEqual(before)
  })
})

it('no line of the log has the address or the secret of a notification, whatever happens to it', async () => {
  const [token, secret] = ['tokenoftheaddress', 'secretofthesignature']
  const { id } = await notifications.create({ url: `http://127.0.0.1:1/${token}`, secret })
  await notifications.test(id).catch(() => undefined)
  await notifications.addNode()
  await until(async () => (await notifications.deliveries(id)).length === 2)
  await notifications.update(id, { url: 'not an address with tokenoftheaddress' }).catch(() => undefined)
  await server.app.database.pool.query('update crux.notification set url = $2 where id = $1', [id, 'sealed by nobody'])
  await notifications.test(id).catch(() => undefined)
  const text = lines.join('')
  expect(text).toContain(id)
  expect(text).not.toContain(token)
  expect(text).not.toContain(secret)
})
