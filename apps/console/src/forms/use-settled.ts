import { useEffect, useState } from 'react'

/** The value once it has not changed for this time: for requests about a text that is being typed. */
export function useSettled<T>(value: T, delayMs = 350): T {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs)
    return () => clearTimeout(timer)
  }, [value, delayMs])
  return settled
}
