import { useEffect } from 'react'

type Page = { skip: number; take: number }

/** A page behind the end (its last row was removed, or the address is old) leads to the last page there is. */
export function useLastPage({ skip, take }: Page, total: number | undefined, go: (page: Page) => void): void {
  const behind = total !== undefined && total > 0 && skip >= total
  const last = behind ? Math.floor((total - 1) / take) * take : skip
  useEffect(() => {
    if (behind) go({ skip: last, take })
  }, [behind, last, take])
}
