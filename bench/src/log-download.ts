import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadImage, raw, unique, waitFor } from '@crux/test-kit'
import { interleave, now, type Report } from './measure.ts'
import type { TestSystem } from './test-system.ts'

const lines = 200_000

/** The whole log of a container as a file, against `docker logs --timestamps`: lines per second. */
export async function downloadLog(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { system, testEnvironment } = testSystem
  await loadImage('bench-log-download:1', {
    cmd: ['/bin/sh', '-c', `seq 1 ${lines}; touch /tmp/done; trap 'exit 0' TERM; while :; do sleep 3600 & wait; done`],
  })
  const name = unique('benchlog')
  const Labels = { 'dev.crux.team': testEnvironment.teamId, 'dev.crux.node': testEnvironment.nodeId }
  const id = await raw.create(name, { Image: 'bench-log-download:1', Labels })
  await raw.start(id)
  const byEngine = async () => {
    const child = spawn('docker', ['logs', '--timestamps', name], { stdio: ['ignore', 'pipe', 'ignore'] })
    let count = 0
    child.stdout.on('data', (part: Buffer) => {
      count += newlines(part)
    })
    await once(child, 'close')
    return count
  }
  await waitFor('the log is written', async () => (await byEngine()) === lines, { timeoutMs: 60_000 })
  const path = `/api/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}/_/containers/${name}/log/download`
  try {
    const sides = await interleave(rounds, {
      ours: async () => {
        const begun = now()
        const answer = await fetch(`${system.url}${path}`, { headers: testEnvironment.person.headers() })
        let count = 0
        for await (const part of answer.body ?? []) count += newlines(part)
        if (count !== lines) throw new Error(`${count} of ${lines} lines were downloaded`)
        return count / ((now() - begun) / 1_000)
      },
      theirs: async () => {
        const begun = now()
        return (await byEngine()) / ((now() - begun) / 1_000)
      },
    })
    report.ratio('whole log as a download / docker logs', sides, { at: 'least', value: 1 }, 'lines/s', `${lines} lines`)
  } finally {
    await raw.remove(id)
  }
}

function newlines(part: Uint8Array): number {
  let count = 0
  for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) count++
  return count
}
