import { QueryObserver } from '@tanstack/react-query'
import { afterEach, describe, expect, it } from 'vitest'
import { applyLiveUpdate, queryClient } from './query.ts'

const key = ['pages']
type Page = { status: string }

describe('a live update of a query', () => {
  const observers: (() => void)[] = []
  afterEach(() => {
    for (const end of observers.splice(0)) end()
    queryClient.clear()
  })

  /** A query whose responses are given by hand. */
  function observe() {
    const requests: ((page: Page) => void)[] = []
    const observer = new QueryObserver<Page>(queryClient, {
      queryKey: key,
      queryFn: () => new Promise((resolve) => requests.push(resolve)),
    })
    observers.push(observer.subscribe(() => undefined))
    return { requests, observer }
  }
  const settle = () => new Promise((resolve) => setTimeout(resolve))

  it('is not overwritten by a response that was read before it', async () => {
    const { observer, requests } = observe()
    requests[0]?.({ status: 'updating' })
    await settle()
    void queryClient.invalidateQueries({ queryKey: key })
    await settle()
    applyLiveUpdate<Page>(key, (page) => ({ ...page, status: 'outdated' }))
    requests[1]?.({ status: 'updating' })
    await settle()
    expect(observer.getCurrentResult().data).toEqual({ status: 'outdated' })
    expect(requests.length).toBe(3)
    requests[2]?.({ status: 'connected' })
    await settle()
    expect(observer.getCurrentResult().data).toEqual({ status: 'connected' })
  })

  it('requests nothing when no response is under way', async () => {
    const { observer, requests } = observe()
    requests[0]?.({ status: 'updating' })
    await settle()
    applyLiveUpdate<Page>(key, (page) => ({ ...page, status: 'outdated' }))
    await settle()
    expect(observer.getCurrentResult().data).toEqual({ status: 'outdated' })
    expect(requests.length).toBe(1)
  })
})
