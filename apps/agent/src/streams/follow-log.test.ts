import { expect, test } from 'vitest'
import type { ContainerView, LogChunkLine } from '../engines/engine.ts'
import { EngineError } from '../errors.ts'
import { followLog } from './follow-log.ts'

const line = (nanos: number, text: string): LogChunkLine => ({ seconds: 1n, nanos, stderr: false, text })

test('a followed log continues with the successor while the engine is removing the container that ended', async () => {
  let holder = 'old'
  const signal = new AbortController()
  const driver = {
    find: async () => ({ id: holder, labels: { 'dev.crux.team': 'team', 'dev.crux.node': 'node' } }),
    subscribe: () => () => undefined,
    async *readLog(id: string, { follow }: { follow: boolean }): AsyncGenerator<LogChunkLine[]> {
      if (id === 'new') return yield [line(2, 'new one')]
      if (follow) yield [line(1, 'old one')]
      holder = 'new'
      if (!follow)
        throw new EngineError('conflict', 'can not get logs from container which is dead or marked for removal')
    },
  } as unknown as ContainerView
  const texts: string[] = []
  for await (const lines of followLog(driver, {
    container: { prefix: 'p', name: 'web' },
    scope: { teamId: 'team', nodeId: 'node', deletedNodeIds: [] },
    take: 10,
    signal: signal.signal,
  })) {
    texts.push(...lines.map(({ text }) => text))
    if (texts.includes('new one')) signal.abort()
  }
  expect(texts).toEqual(['old one', 'new one'])
})
