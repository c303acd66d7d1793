import { useEffect, useRef, useState } from 'react'

/** Actions that may not be repeated for a while, by key; the component is rendered again when a delay ends. */
export function usePauses() {
  const [paused, setPaused] = useState<ReadonlySet<string>>(new Set())
  const timers = useRef<ReturnType<typeof setTimeout>[]>([])
  useEffect(() => () => timers.current.forEach(clearTimeout), [])
  return {
    active: (key: string) => paused.has(key),
    begin(key: string, ms: number) {
      setPaused((now) => new Set(now).add(key))
      const end = () => setPaused((now) => new Set([...now].filter((other) => other !== key)))
      timers.current.push(setTimeout(end, ms))
    },
  }
}
