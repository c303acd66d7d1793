import { type ReactNode, useState } from 'react'

/** The states of one shared component, below its name. */
export function Example({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section aria-label={name} className="grid gap-2 border-t border-line pt-3">
      <h2 className="font-strong">{name}</h2>
      <div className="flex flex-wrap items-start gap-3">{children}</div>
    </section>
  )
}

type ControlledProps<T> = { initial: T; children: (value: T, set: (value: T) => void) => ReactNode }

/** A control with a value of its own, so that it can be tried. */
export function Controlled<T>({ initial, children }: ControlledProps<T>) {
  const [value, setValue] = useState(initial)
  return children(value, setValue)
}

export const ignore = () => {}
