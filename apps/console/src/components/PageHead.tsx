import { type ReactNode, useEffect } from 'react'

type Props = {
  title: string
  /** Shown beside the title: a state, a tag. */
  mark?: ReactNode
  sub?: ReactNode
  /** At most one main button; the rest plain or in a menu. */
  tools?: ReactNode
}

/** The heading of every page; it also names the browser's tab. */
export function PageHead({ title, mark, sub, tools }: Props) {
  useEffect(() => {
    document.title = `${title} - Crux`
  }, [title])
  return (
    <div className="mb-4 flex flex-wrap items-start gap-3">
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-x-2.5">
          <h1 className="text-title font-semibold tracking-[-0.012em]">{title}</h1>
          {mark}
        </div>
        {sub && <p className="mt-0.5 text-ink-2">{sub}</p>}
      </div>
      {tools && <div className="flex w-full items-center gap-2 max-md:*:flex-1 wide:ml-auto wide:w-auto">{tools}</div>}
    </div>
  )
}
