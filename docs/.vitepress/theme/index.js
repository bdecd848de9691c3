import DefaultTheme from 'vitepress/theme';
import { h } from 'vue';
import phone from '../../pictures/example-phone.png';
import Mermaid from './Mermaid.vue';
import './style.css';

const picture = () => h('img', { src: phone, class: 'phone', alt: 'The example on a phone: profile and coupons of the demo player' });

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'home-hero-image': picture }),
  enhanceApp: ({ app }) => app.component('Mermaid', Mermaid),
};
