import { spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createLogger } from './logger.ts'
import {
  guarded,
  handleUnhandledErrors,
  inBackground,
  onUnhandledError,
  type UnhandledError,
  withErrorScope,
} from './unhandled-errors.ts'

const heard: UnhandledError[] = []
let unsubscribe: () => void
beforeEach(() => {
  heard.length = 0
  unsubscribe = onUnhandledError((unhandled) => heard.push(unhandled))
})
afterEach(() => unsubscribe())

describe('guarded', () => {
  test('catches exceptions and rejections of a timer, a listener or background work', async () => {
    const emitter = new EventEmitter()
    const done = once(emitter, 'done')
    emitter.on(
      'event',
      guarded('a listener', () => {
        throw new Error('thrown')
      }),
    )
    expect(emitter.emit('event')).toBe(true)
    setTimeout(
      guarded('a timer', async () => {
        throw new Error('rejected')
      }),
    )
    inBackground('the background', () => Promise.reject(new Error('late')))
    setTimeout(() => emitter.emit('done'), 5)
    await done
    expect(heard.map(({ where, error }) => [where, (error as Error).message])).toEqual([
      ['a listener', 'thrown'],
      ['the background', 'late'],
      ['a timer', 'rejected'],
    ])
  })

  test('passes the arguments of the callback on, and counts errors by location', () => {
    const seen: unknown[] = []
    guarded('arguments', (...args: unknown[]) => seen.push(...args))(1, 'two')
    expect(seen).toEqual([1, 'two'])
    const fails = guarded('counted', () => {
      throw new Error('again')
    })
    fails()
    fails()
    expect(heard.map(({ count }) => count)).toEqual([1, 2])
  })

  test('notifies the scope that created the callback, also when it is called later from another scope', async () => {
    const scoped: unknown[] = []
    const done = Promise.withResolvers<void>()
    withErrorScope(
      (error) => {
        scoped.push(error)
        done.resolve()
      },
      () =>
        setTimeout(
          guarded('in a scope', () => {
            throw new Error('of the scope')
          }),
          1,
        ),
    )
    inBackground('outside of it', () => {
      throw new Error('of nobody')
    })
    await done.promise
    expect(scoped).toMatchObject([{ message: 'of the scope' }])
    expect(heard).toHaveLength(2)
  })

  test('notifies the other listeners when one listener fails', () => {
    const stop = onUnhandledError(() => {
      throw new Error('in the listener')
    })
    const after: UnhandledError[] = []
    const stopAfter = onUnhandledError((unhandled) => after.push(unhandled))
    inBackground('anything', () => {
      throw new Error('first')
    })
    stop()
    stopAfter()
    expect(after).toHaveLength(1)
  })
})

test('the global handler logs an error that repeats ten times, and then each hundredth time', () => {
  const lines: string[] = []
  const log = createLogger({ name: 'test', level: 'error', destination: { write: (line) => void lines.push(line) } })
  const remove = handleUnhandledErrors(log)
  for (let times = 1; times <= 250; times++)
    inBackground('a flood', () => {
      throw new Error('again')
    })
  remove()
  expect(lines).toHaveLength(12)
  expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ where: 'a flood', count: 200, err: { message: 'again' } })
})

test('the global handler keeps a process running after any number of exceptions of timers, streams and promises', async () => {
  const kit = new URL('./index.ts', import.meta.url).href
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { createServer, connect } from 'node:net'
     const { createLogger, handleUnhandledErrors } = await import(${JSON.stringify(kit)})
     handleUnhandledErrors(createLogger({ name: 'child', level: 'error' }))
     for (let times = 0; times < 50; times++) {
       setTimeout(() => { throw new Error('in a timer') })
       queueMicrotask(() => { throw new Error('in a microtask') })
       Promise.reject(new Error('of a promise'))
     }
     const server = createServer((socket) => socket.end('x')).listen(0, () => {
       const socket = connect(server.address().port)
       socket.on('data', () => { throw new Error('in a stream') })
       socket.on('close', () => {
         server.close()
         setTimeout(() => process.stdout.write('still here\\n'), 20)
       })
     })`,
  ])
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  const [code] = await once(child, 'close')
  expect(code).toBe(0)
  expect(output).toContain('in a stream')
  expect(output.trim().split('\n').at(-1)).toBe('still here')
})
