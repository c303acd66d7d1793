import { describe, expect, it } from 'vitest'
import { createLogBuffer } from './log-buffer.ts'

const make = (capacity: number) => {
  const frames: (() => void)[] = []
  const buffer = createLogBuffer({ capacity, schedule: (run) => frames.push(run) })
  return { buffer, frames, texts: () => Array.from({ length: buffer.size }, (_, index) => buffer.at(index)?.text) }
}
const lines = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => ({ at: from + index, text: `line ${from + index}` }))

describe('log buffer', () => {
  it('keeps the newest lines and their numbers when it is full', () => {
    const { buffer, texts } = make(3)
    buffer.append(lines(1, 5))
    expect(texts()).toEqual(['line 3', 'line 4', 'line 5'])
    expect([buffer.size, buffer.first, buffer.indexOf(4), buffer.indexOf(2), buffer.indexOf(6)]).toEqual([
      3, 3, 1, -1, -1,
    ])
  })

  it('notifies subscribers once per frame for any number of batches', () => {
    const { buffer, frames } = make(100)
    let woken = 0
    buffer.subscribe(() => {
      woken += 1
    })
    buffer.append(lines(1, 10))
    buffer.append(lines(11, 20))
    expect(frames).toHaveLength(1)
    frames[0]?.()
    expect(woken).toBe(1)
    buffer.append(lines(21, 21))
    expect(frames).toHaveLength(2)
  })

  it('marks lost lines at their position and merges adjacent gaps', () => {
    const { buffer } = make(10)
    buffer.append(lines(1, 1))
    buffer.addGap(40)
    buffer.addGap(2)
    buffer.append(lines(44, 44))
    expect(buffer.size).toBe(3)
    expect(buffer.at(1)?.skipped).toBe(42)
  })

  it('does not grow when 100,000 lines more than its capacity are added', () => {
    const { buffer } = make(1_000)
    for (let batch = 0; batch < 100; batch += 1) buffer.append(lines(batch * 1_000 + 1, batch * 1_000 + 1_000))
    expect([buffer.size, buffer.at(0)?.text, buffer.at(999)?.text]).toEqual([1_000, 'line 99001', 'line 100000'])
  })

  it('is empty and numbers lines from the start after clear', () => {
    const { buffer, texts } = make(3)
    buffer.append(lines(1, 5))
    buffer.clear()
    buffer.append(lines(7, 7))
    expect([texts(), buffer.first]).toEqual([['line 7'], 1])
  })
})
