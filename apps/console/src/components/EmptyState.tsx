import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

type Props = { icon: LucideIcon; title: string; text: ReactNode; action?: ReactNode }

/** An empty state: one sentence and the next action. */
export function EmptyState({ icon: Icon, title, text, action }: Props) {
  return (
    <div className="flex flex-wrap items-center gap-3.5 rounded-box border border-line bg-surface px-3.5 py-4">
      <span className="grid size-9 shrink-0 place-items-center rounded-md bg-sunken text-ink-2">
        <Icon aria-hidden />
      </span>
      <div className="min-w-0 flex-1 basis-56">
        <h2 className="font-semibold">{title}</h2>
        <p className="text-ink-2">{text}</p>
      </div>
      {action && <div className="flex flex-wrap gap-2 max-md:w-full max-md:*:flex-1">{action}</div>}
    </div>
  )
}
