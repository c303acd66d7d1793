import { Operation } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ContainerView, EngineDescription, EngineEvent } from '../src/engines/engine.ts'
import { waitUntil } from './kit/wait-until.ts'

/** The functions that a kind of node must provide to run the suite. */
export interface EngineSubject {
  view: ContainerView
  describe(): Promise<EngineDescription>
  /** A prefix that no other test uses. */
  prefix: string
  /** Starts a container under the prefix that prints `lines`, one by one, and then continues to run. */
  run(prefix: string, name: string, lines: readonly string[]): Promise<void>
  dispose(): Promise<void>
}

/** The guarantees of every engine about its containers. */
export function describeEngine(kind: string, open: () => Promise<EngineSubject>, missing?: string): void {
  describe.skipIf(missing)(`the containers of ${kind}`, () => {
    let subject: EngineSubject
    let prefix: string
    const ref = (name: string) => ({ $typeName: 'crux.agent.v1.ContainerRef', prefix, name }) as const
    const getId = async (name: string) => {
      const found = await subject.view.find(ref(name))
      if (!found) throw new Error(`there is no container ${name}`)
      return found.id
    }
    const one = async () => (await subject.view.list({ prefix }))[0]

    beforeAll(async () => {
      subject = await open()
      prefix = subject.prefix
      await subject.run(prefix, 'app', ['one', 'two', 'three'])
    })
    afterAll(() => subject?.dispose())

    test('describes its engine', async () => {
      const { version, operatingSystem, architecture } = await subject.describe()
      expect(version).toMatch(/^\S+ \S+/)
      expect(operatingSystem).not.toBe('')
      expect(['amd64', 'arm64']).toContain(architecture)
    })

    test('lists a container by its prefix and short name and only those of the prefix', async () => {
      expect(await subject.view.list({ prefix })).toHaveLength(1)
      expect((await one())?.ref).toMatchObject({ prefix, name: 'app' })
      expect(await subject.view.list({ prefix: 'another' })).toEqual([])
      expect((await subject.view.list({})).length).toBeGreaterThanOrEqual(1)
    })

    test('finds a container by its name, views it by its id, and reports when there is none', async () => {
      const id = await getId('app')
      expect((await subject.view.view([id])).map(({ engineId }) => engineId)).toEqual([id])
      expect(await subject.view.view(['0'.repeat(64)])).toEqual([])
      expect(await subject.view.find(ref('nobody'))).toBeUndefined()
    })

    test('finds nothing by a name that would lead to another path of the engine', async () => {
      const id = await getId('app')
      for (const name of [`../containers/${id}`, `${id}/json?`, id.slice(0, 12), '', '..', 'a/../../info'])
        expect(await subject.view.find({ prefix: '', name })).toBeUndefined()
    })

    test('reads the last lines of a log, each with its time', async () => {
      const id = await getId('app')
      const read = async (take: number) => {
        const lines = []
        for await (const chunk of subject.view.readLog(id, { take, follow: false })) lines.push(...chunk)
        return lines
      }
      await waitUntil('the log is written', async () => (await read(10)).length === 3)
      const last = await read(2)
      expect(last.map(({ text }) => text)).toEqual(['two', 'three'])
      expect(Math.abs(Date.now() / 1_000 - Number(last[0]?.seconds))).toBeLessThan(600)
    })

    test('ends a followed log when its signal aborts', async () => {
      const id = await getId('app')
      const controller = new AbortController()
      let seen = 0
      for await (const chunk of subject.view.readLog(id, { take: 10, follow: true, signal: controller.signal })) {
        seen += chunk.length
        if (seen >= 3) controller.abort()
      }
      expect(seen).toBe(3)
    })

    test('inspects a container as JSON', async () => {
      expect(JSON.parse(await subject.view.inspect(await getId('app')))).toBeTypeOf('object')
    })

    test('sends every subscriber a relist first and then the events', async () => {
      const events: EngineEvent[] = []
      const unsubscribe = subject.view.subscribe((event) => events.push(event))
      await waitUntil('the first word', () => events.length > 0)
      expect(events[0]).toEqual({ kind: 'relist' })
      const id = await getId('app')
      await subject.view.operate(id, Operation.RESTART)
      await waitUntil('the restart', () =>
        events.some((event) => event.kind === 'container' && event.action === 'start' && event.id === id),
      )
      unsubscribe()
    })

    test('removes a container and succeeds a second time', async () => {
      const id = await getId('app')
      await subject.view.remove(id)
      await subject.view.remove(id)
      expect(await subject.view.list({ prefix })).toEqual([])
    })
  })
}
