import type { ReactNode } from 'react'
import { Avatar } from '../../../components/Avatar.tsx'
import { cx } from '../../../components/class-names.ts'
import { useFocusMark } from './use-focus-mark.ts'

type Props = {
  /** Which control of the page it is: `routing.stripPath`. */
  inputId: string
  className?: string
  children: ReactNode
}

/** A switch, a select or a choice that shows which other user is in it, like `SettingInput`, and that links can open. */
export function PresenceHighlight({ inputId, className, children }: Props) {
  const { other, enter, leave } = useFocusMark(inputId)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only receives focus events of its children
    <span
      data-input={inputId}
      className={cx('relative inline-flex max-w-full justify-self-start min-w-0 rounded-md', className)}
      style={other ? { outline: `2px solid ${other.color}`, outlineOffset: 2 } : undefined}
      onFocus={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) enter()
      }}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) leave()
      }}
    >
      {children}
      {other && (
        <span className="pointer-events-none absolute -top-3 -right-3">
          <Avatar name={other.name} color={other.color} size="sm" />
        </span>
      )}
    </span>
  )
}
