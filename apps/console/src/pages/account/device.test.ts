import { expect, it } from 'vitest'
import { toDeviceName } from './device.ts'

it.each([
  [
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36',
    'Chrome',
    'Linux',
  ],
  ['Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0', 'Edge', 'Windows'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18 Safari/604', 'Safari', 'iPhone'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 15.1; rv:130.0) Gecko/20100101 Firefox/130.0', 'Firefox', 'macOS'],
  ['curl/8.5.0', 'curl', ''],
  ['', '', ''],
])('names the device of %j', (userAgent, browser, system) => {
  expect(toDeviceName(userAgent)).toEqual({ browser, system })
})
