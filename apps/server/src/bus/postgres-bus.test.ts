import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serverDatabase, until } from '../../test/kit/index.ts'
import { openServerDatabase } from '../db/open-database.ts'
import { createPostgresBus } from './postgres-bus.ts'

const log = createLogger({ name: 'test', level: 'fatal' })
let given: Awaited<ReturnType<typeof serverDatabase>>
beforeAll(async () => {
  given = await serverDatabase()
})
afterAll(() => given.drop())

it('an event that could not be sent is sent again, in its order', async () => {
  const { url } = given
  const database = openServerDatabase({ url, log })
  const { bus, ready, stop } = createPostgresBus({ url, database, log })
  await ready
  const heard: string[] = []
  bus.on('node.work', ({ nodeId }) => heard.push(nodeId))
  const query = database.pool.query.bind(database.pool)
  let broken = 1
  // A connection of the pool breaks during the statement; the listening one stays connected.
  database.pool.query = ((...args: Parameters<typeof query>) => {
    if (broken-- > 0) return Promise.reject(new Error('Connection terminated unexpectedly'))
    return query(...args)
  }) as typeof database.pool.query
  for (const nodeId of ['one', 'two']) bus.publish({ type: 'node.work', nodeId })
  await until(() => broken < 1)
  bus.publish({ type: 'node.work', nodeId: 'three' })
  await until(() => heard.length === 3)
  expect(heard).toEqual(['one', 'two', 'three'])
  await stop()
  await database.close()
})

it('a change of rights applies at its own server before the response, and reaches the others', async () => {
  const { url } = given
  const database = openServerDatabase({ url, log })
  const [here, there] = [createPostgresBus({ url, database, log }), createPostgresBus({ url, database, log })]
  await Promise.all([here.ready, there.ready])
  const heard: string[] = []
  here.bus.on('member.changed', () => heard.push('here'))
  there.bus.on('member.changed', () => heard.push('there'))
  here.bus.publish({ type: 'member.changed', teamId: 'team', userId: 'user' })
  expect(heard).toEqual(['here'])
  await until(() => heard.length === 3)
  expect(heard.toSorted()).toEqual(['here', 'here', 'there'])
  await Promise.all([here.stop(), there.stop()])
  await database.close()
})
