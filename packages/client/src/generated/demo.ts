export const ATTRIBUTES: Readonly<Record<string, unknown>> = {
  "displayName": "Demo Player",
  "firstName": "Demo",
  "lastName": "Player",
  "email": "demo.player@shop.example",
  "mobile": "+49 30 1234567",
  "gender": "F",
  "dateOfBirth": "1990-04-01T00:00:00.000Z",
  "joinDate": "2024-02-29T12:00:00.000Z",
  "tags": [
    "vip",
    "newsletter"
  ],
  "country": "DE",
  "city": "Berlin",
  "zip": "10115",
  "totalSpent": 420.5,
  "totalOrders": 7,
  "lastOrderDate": "2025-05-01",
  "avgOrderAmount": 60.07,
  "custom": {
    "favouriteColour": "green",
    "shoeSize": 42
  }
};

export const LONG_NAMES: readonly (string | null)[] = [
  "Maximiliane-Alexandrina-Theodora von Hohenzollern-Sigmaringen-Donaudampfschifffahrt Maximiliane-Alexandrina-Theodora von Hohenzollern-Sigmaringen-Donaudampfschifffahrt",
  "عبد الرحمن بن عبد العزيز آل سعود",
  "שרה בת-אברהם (Sarah)",
  "👩‍👩‍👧‍👦🏳️‍🌈 Zoë 🎈🎈🎈",
  "   ",
  null,
  "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
  "ก็็็็็็ ไทย",
  "山田太郎"
];