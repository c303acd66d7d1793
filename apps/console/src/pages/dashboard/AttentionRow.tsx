import type { ReactNode } from 'react'
import { StateMark } from '../../components/State.tsx'
import type { StatusStyle } from '../../components/status-styles.ts'
import { TimeAgo } from '../../components/TimeAgo.tsx'

type Props = {
  appearance: StatusStyle
  state: string
  /** The link to what the row is about. */
  title: ReactNode
  text?: ReactNode
  since?: string | null | undefined
  action: ReactNode
}

/** One thing that needs attention: its state, a link, since when, and the one action. */
export function AttentionRow({ appearance, state, title, text, since, action }: Props) {
  return (
    <li className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3.5 py-2 last:border-0">
      <span className="w-32 shrink-0 max-md:w-auto">
        <StateMark appearance={appearance} label={state} />
      </span>
      <div className="min-w-0 flex-1 basis-56 max-md:order-last max-md:basis-full">
        <span className="wrap-anywhere">{title}</span>
        {text && <p className="line-clamp-2 text-ink-2 wrap-anywhere">{text}</p>}
      </div>
      <span className="ml-auto flex shrink-0 items-center gap-3">
        {since && (
          <span className="text-small text-ink-2">
            <TimeAgo at={since} />
          </span>
        )}
        {action}
      </span>
    </li>
  )
}
