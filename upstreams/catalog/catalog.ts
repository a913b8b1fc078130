// The product catalog (its v2): read by anyone, cacheable by anyone. Lives behind the gateway without a token.
import { answerCollection } from '../service/collection.ts';
import { type ListenOptions, listen, type Service } from '../service/listen.ts';

interface Product {
  readonly id: string;
  readonly name: string;
  /** Minor units of `currency`. */
  readonly price: number;
  readonly currency: string;
}

const NAMES = [
  'Armillary sphere',
  'Astrolabe',
  'Brass sextant',
  'Equatorial dial',
  'Garden sundial',
  'Hourglass',
  'Marine chronometer',
  'Nocturnal',
  'Pocket sundial',
  'Quadrant',
  'Ring dial',
  'Water clock',
] as const;

export function startCatalog(options: ListenOptions): Promise<Service> {
  const products = NAMES.map((name, index): Product => {
    const id = name.toLowerCase().replaceAll(' ', '-');
    return { id, name, price: 4900 + index * 1250, currency: 'EUR' };
  });
  const items = new Map(products.map((product) => [product.id, product]));
  return listen(answerCollection({ path: '/catalog', cacheControl: 'public, max-age=60', items }), options);
}
