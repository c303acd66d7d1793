import { ExternalLink } from 'lucide-react'
import type { ReactNode } from 'react'

/** A page of the service in a new tab. The address comes from the service, so anything but a web address is shown as text. */
export function ServiceLink({ url, children }: { url: string | null | undefined; children: ReactNode }) {
  if (!url || !/^https?:\/\//i.test(url)) return children
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      className="inline-flex max-w-full items-center gap-1 text-accent hover:underline"
    >
      <span className="min-w-0 truncate">{children}</span>
      <ExternalLink aria-hidden className="size-3! shrink-0" />
    </a>
  )
}
