import { type LinkProps, useNavigate } from '@tanstack/react-router'

export type PageOfList = { skip: number; take: number }
type PagedSearch = { skip?: number; take?: number }

/** The page and the filters of a list, which are in the address, so that a filtered list can be shared. */
export function usePagedSearch<S extends PagedSearch>(search: S, take: number, link: (search: S) => LinkProps) {
  const navigate = useNavigate()
  return {
    page: { skip: search.skip ?? 0, take: search.take ?? take },
    goTo: (page: PageOfList, replace = false) => void navigate({ ...link({ ...search, ...page }), replace }),
    /** Another filter starts at the first page. */
    filter: (change: Partial<S>) => void navigate(link({ ...search, ...change, skip: undefined })),
  }
}
