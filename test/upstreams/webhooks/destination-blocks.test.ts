// Addresses in special-purpose blocks are never called, those next to one are.
import { describe, expect, it } from 'vitest';
import { checkDestination } from '../../../upstreams/webhooks/destination.ts';
import { isPublicAddress } from '../../../upstreams/webhooks/public-address.ts';
import { addressOf, blockOf, hiddenIn6, IPV4_BLOCKS, IPV6_BLOCKS } from './special-purpose.ts';

const BLOCKS = [...IPV4_BLOCKS, ...IPV6_BLOCKS];
const INNER = ['127.0.0.1', '10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1'];
const blocks = BLOCKS.map(blockOf);

const isLiteralRefused = (address: string): boolean => {
  const host = address.includes(':') ? `[${address}]` : address;
  return checkDestination(`https://${host}/`, { allow: [], deny: [] }).kind === 'refused';
};

describe('an address of a special-purpose block', () => {
  it.each(BLOCKS)('WH-7: the first, middle and last of %s are not called', (written) => {
    const { bits, first, last } = blockOf(written);
    const addresses = [first, (first + last) / 2n, last].map((number) => addressOf(number, bits));
    expect(addresses.filter(isPublicAddress)).toEqual([]);
    expect(addresses.filter((each) => !isLiteralRefused(each))).toEqual([]);
  });

  it.each(INNER)('WH-7: %s is not called as an IPv6 address', (address) => {
    const hidden = hiddenIn6(address);
    expect(hidden.filter(isPublicAddress)).toEqual([]);
    expect(hidden.filter((each) => !isLiteralRefused(each))).toEqual([]);
  });

  it('WH-7: allocated addresses next to a block are called, unless another block has them', () => {
    const [from, to] = [2n ** 125n, 2n ** 126n]; // 2000::/3
    const edges = blocks.flatMap(({ bits, first, last }) =>
      [first - 1n, last + 1n]
        .filter((number) => number >= 0n && number < 2n ** BigInt(bits))
        .map((number) => ({ bits, number })),
    );
    const isNobodys = ({ bits, number }: (typeof edges)[number]): boolean =>
      (bits === 128 && (number < from || number >= to)) ||
      blocks.some((block) => block.bits === bits && block.first <= number && number <= block.last);
    const judged = edges.map((edge) => ({
      address: addressOf(edge.number, edge.bits),
      own: !isNobodys(edge),
    }));
    expect(judged.filter(({ own }) => own).length).toBeGreaterThan(30);
    expect(judged.filter(({ address, own }) => isPublicAddress(address) !== own)).toEqual([]);
  });
});
