import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { freePortRange } from './free-ports.ts'

const url = new URL('free-ports.ts', import.meta.url).href
const children = new Set<ChildProcess>()
afterEach(() => {
  for (const child of children) child.kill('SIGKILL')
})

/** Ports that neither other tests nor connections use. */
function chooseAmong(count: number) {
  const first = randomInt(61_000, 65_000)
  return { first, last: first + count - 1 }
}

/** Another process that takes ports and keeps them. */
async function takeElsewhere(count: number, among: { first: number; last: number }) {
  const code = `const { freePortRange } = await import(${JSON.stringify(url)})
    const ports = []
    for (let index = 0; index < ${count}; index += 1) ports.push((await freePortRange(1, ${JSON.stringify(among)})).from)
    console.log(JSON.stringify(ports))
    setInterval(() => {}, 1_000)`
  const cwd = fileURLToPath(new URL('.', import.meta.url))
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.add(child)
  const [line] = await once(child.stdout, 'data')
  const ports: number[] = JSON.parse(String(line))
  const end = async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return { ports, end }
}

test('a port is given to one of several processes, and to another one when that process has ended', async () => {
  const among = chooseAmong(6)
  const [one, two] = await Promise.all([takeElsewhere(2, among), takeElsewhere(2, among)])
  const own = [await freePortRange(1, among), await freePortRange(1, among)].map(({ from }) => from)
  const all = [...one.ports, ...two.ports, ...own]
  expect(all.toSorted((left, right) => left - right)).toEqual([0, 1, 2, 3, 4, 5].map((offset) => among.first + offset))
  await one.end()
  const again = [await freePortRange(1, among), await freePortRange(1, among)].map(({ from }) => from)
  expect(again.toSorted()).toEqual(one.ports.toSorted())
})

test('ports in a row are given as a whole', async () => {
  const among = chooseAmong(5)
  expect(await freePortRange(5, among)).toEqual({ from: among.first, to: among.last })
})
