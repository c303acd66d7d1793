import { useEffect, useRef, useState } from 'react'
import type { LogBuffer } from './log-buffer.ts'
import { createLogSearch, type LogSearch } from './log-search.ts'

/** The search of a viewer: finds in parts between frames, keeps its position by line number while the list of matches changes. */
export function useLogSearch(buffer: LogBuffer, show: (number: number) => void) {
  const [query, setQuery] = useState('')
  const [currentNumber, setCurrentNumber] = useState(0)
  const [, setTotal] = useState(0)
  const search = useRef<{ buffer: LogBuffer; search: LogSearch }>(undefined)
  if (search.current?.buffer !== buffer) search.current = { buffer, search: createLogSearch(buffer) }
  const finder = search.current.search

  useEffect(() => {
    let frame = 0
    const work = () => {
      const more = finder.advance(query)
      setTotal(finder.matches.length)
      if (more) frame = requestAnimationFrame(work)
    }
    setCurrentNumber(0)
    work()
    if (query === '') return
    const unsubscribe = buffer.subscribe(work)
    return () => {
      cancelAnimationFrame(frame)
      unsubscribe()
    }
  }, [buffer, finder, query])

  const matches = query === '' ? [] : finder.matches
  const position = currentNumber === 0 ? -1 : matches.indexOf(currentNumber)
  return {
    query,
    setQuery,
    total: matches.length,
    /** From 1. */
    current: position + 1,
    currentNumber: position < 0 ? 0 : currentNumber,
    step: (step: 1 | -1) => {
      if (matches.length === 0) return
      // The first step goes to the newest match: in a log, that is the one that matters.
      const next = position < 0 ? matches.length - 1 : (position + step + matches.length) % matches.length
      const number = matches[next] ?? 0
      setCurrentNumber(number)
      show(number)
    },
  }
}
